import type { PaymentMethod, PortalSession } from '@florin/contract/schemas';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isFinal } from '../../packages/server/src/subscriptions/states.ts';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { ok } from '../payouts/requests.ts';
import { DAY, HOUR, item } from '../subscriptions/billing.ts';
import {
  FUNDS,
  type Journey,
  liveWorld,
  PRICE,
  type SubscriptionWorld,
  sandboxWorld,
} from './subscription-worlds.ts';

describe('subscriptions in the sandbox', () => {
  describeJourneys(sandboxWorld);
});
describe.skipIf(!hasAnvil())('subscriptions of a live store, with wallets that sign by real keys', () => {
  describeJourneys(liveWorld);
});

/** The same for both: what a merchant tries in the sandbox is what happens to real money. */
function describeJourneys(start: () => Promise<SubscriptionWorld>): void {
  let world: SubscriptionWorld;
  /** Ends what the test has begun: else its renewals go on in the time of the tests after it. */
  let end = async () => {};
  beforeAll(async () => {
    world = await start();
  }, 120_000);
  afterEach(async () => {
    await end();
    await world.expectBooksAgree();
  });
  afterAll(() => world?.stop());

  /** A subscription with a mandate. */
  async function begin(more: object = {}) {
    const journey = await world.open();
    const { api } = journey;
    const ordered = await journey.order(more);
    end = async () => {
      if (!isFinal((await api.read(ordered.id)).status)) await api.cancel(ordered.id);
    };
    const wallet = await journey.authorize(ordered);
    return { ...journey, ordered, wallet, id: ordered.id, subscription: await api.read(ordered.id) };
  }
  const methodOf = async ({ api }: Journey, id: string | null | undefined) => {
    const { data } = await ok<{ data: PaymentMethod[] }>(api.call('/payment_methods?limit=100'));
    return data.find((method) => method.id === id);
  };
  const eventsOf = async ({ merchant }: Journey, resource: string) => {
    const types: string[] = [];
    for await (const { type } of merchant.sdk.events.list({ resource })) types.push(type);
    return types.toReversed().filter((type) => type !== 'payment.updated');
  };

  test('the first invoice is charged as the mandate is given', async () => {
    const { api, id, subscription, wallet } = await begin();
    expect(subscription).toMatchObject({ status: 'active' });
    expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: PRICE });
    expect(await wallet.balance()).toBe(FUNDS - PRICE);
  });

  test('two renewals are charged, each once and in its period', async () => {
    const { api, id, subscription, wallet, advance } = await begin();
    const start = subscription.current_period_start ?? 0;
    const { current_period_end: end = 0 } = subscription;
    await advance(end - start + HOUR);
    await advance(31 * DAY);
    const invoices = await api.invoices(id);
    expect(invoices.map(({ status }) => status)).toEqual(['paid', 'paid', 'paid']);
    expect(await api.read(id)).toMatchObject({
      status: 'active',
      current_period_start: invoices[2]?.period_start,
    });
    expect(await wallet.balance()).toBe(FUNDS - 3 * PRICE);
  });

  test('a trial takes a mandate and no money before it ends', async () => {
    const { api, id, subscription, wallet, advance } = await begin({ trial_period_days: 7 });
    expect(subscription).toMatchObject({ status: 'trialing' });
    expect(await wallet.balance()).toBe(FUNDS);
    await advance(7 * DAY + HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    expect(await wallet.balance()).toBe(FUNDS - PRICE);
  });

  test('an empty wallet is seen, fails its renewal, and pays after a top-up', async () => {
    const journey = await begin();
    const { api, id, subscription, wallet, advance } = journey;
    const { current_period_end: end = 0, created, payment_method_id: methodId } = subscription;
    await wallet.hold(0);
    expect(await methodOf(journey, methodId)).toMatchObject({ status: 'inactive' });
    expect(await eventsOf(journey, methodId ?? '')).toEqual(['payment_method.updated']);
    await advance(end - created + HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'past_due' });
    expect(await api.latest(id)).toMatchObject({ status: 'open', payment_status: 'failed' });
    await wallet.hold(FUNDS);
    await advance(2 * HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    expect(await methodOf(journey, methodId)).toMatchObject({ status: 'active' });
    expect(await wallet.balance()).toBe(FUNDS - PRICE);
  });

  test('a smaller allowance is seen, and restored before it matters', async () => {
    const journey = await begin();
    const { api, id, subscription, wallet, advance } = journey;
    const { current_period_end: end = 0, created, payment_method_id: methodId } = subscription;
    await wallet.allow(PRICE - 1);
    expect(await methodOf(journey, methodId)).toMatchObject({ status: 'inactive' });
    await wallet.allow(10 * PRICE);
    expect(await methodOf(journey, methodId)).toMatchObject({ status: 'active' });
    expect(await eventsOf(journey, methodId ?? '')).toEqual([
      'payment_method.updated',
      'payment_method.updated',
    ]);
    await advance(end - created + HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    expect(await wallet.balance()).toBe(FUNDS - 2 * PRICE);
  });

  test('nobody pays: after 1, 3, 5 and 7 days the subscription is canceled', async () => {
    const { api, id, subscription, wallet, advance } = await begin();
    const { current_period_end: end = 0, created } = subscription;
    await wallet.hold(0);
    await advance(end - created + HOUR);
    const failed = async () => (await api.latest(id)).payment_status;
    for (const days of [1, 2, 2]) {
      expect(await api.read(id)).toMatchObject({ status: 'past_due' });
      expect(await failed()).toBe('failed');
      await advance(days * DAY);
    }
    await advance(2 * DAY);
    expect(await api.read(id)).toMatchObject({ status: 'canceled' });
    expect(await api.latest(id)).toMatchObject({ status: 'void' });
  });

  test('a mandate that its payer revokes is charged no more; another wallet goes on', async () => {
    const journey = await begin();
    const { api, id, subscription, wallet, advance } = journey;
    const { current_period_end: end = 0, created, payment_method_id: methodId } = subscription;
    await wallet.revoke();
    expect(await methodOf(journey, methodId)).toMatchObject({ status: 'revoked' });
    await advance(end - created + HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'past_due' });
    expect(await wallet.balance()).toBe(FUNDS - PRICE);
    const other = await journey.authorize(journey.ordered);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    expect(await other.balance()).toBe(FUNDS - PRICE);
  });

  test('a dearer plan is charged at once for the rest of its period, and whole at the next one', async () => {
    const { api, id, subscription, wallet, advance } = await begin();
    const { current_period_end: end = 0, created } = subscription;
    await api.update(id, { items: [item(PRICE + 10 * TOKEN, 'month', 'USDT')] });
    await advance(HOUR);
    const [, change] = await api.invoices(id);
    expect(change).toMatchObject({ billing_reason: 'subscription_update', status: 'paid' });
    await advance(end - created);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    const paid = PRICE + (change?.amount_paid ?? 0) + PRICE + 10 * TOKEN;
    expect(await wallet.balance()).toBe(FUNDS - paid);
  });

  test('a customer cancels in the portal, and is charged no more', async () => {
    const journey = await begin();
    const { api, id, subscription, wallet, advance } = journey;
    const { current_period_end: end = 0, created } = subscription;
    const asked = { customer: subscription.customer, return_url: 'https://shop.example/account' };
    const { url } = await ok<PortalSession>(api.post('/portal/sessions', asked));
    const body = new URLSearchParams({ action: 'cancel', subscription: id, sure: 'yes' });
    const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(await api.read(id)).toMatchObject({ status: 'active', cancel_at: end });
    await advance(end - created + HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'canceled' });
    expect(await wallet.balance()).toBe(FUNDS - PRICE);
  });
}
