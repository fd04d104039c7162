import { parseGwei } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { moveClock } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { COLLECTOR, LiveStore } from './live-store.ts';
import { PayerWallet, permitOf } from './payer-wallet.ts';

const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);

describe.skipIf(!hasAnvil())('approvals and funds that change before a mandate is on the chain', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
  }, 180_000);
  afterEach(async () => {
    await fees(1);
    await store.expectSettled();
  }, 90_000);
  afterAll(() => store?.stop());

  const calls = () => billing(store.service, store.merchant);
  let customers = 0;
  async function ordered(token: 'USDT' | 'USDC') {
    customers += 1;
    const items = [item(PRICE, 'month', token)];
    const made = await calls().make({ customer: `late-${customers}`, currency: token, items });
    return { ...made, page: made.checkout_url ?? '' };
  }
  /** Above the ceiling nothing is sent. */
  async function fees(gwei: number): Promise<void> {
    await store.world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(gwei)) });
    await store.world.mine(1);
  }
  const activations = ({ address }: PayerWallet) =>
    asOwner<{ has_permit: boolean; status: string }>(
      store.service,
      `select movement ? 'permit' as has_permit, status from transfer_attempt
       where movement ->> 'kind' = 'activate' and movement -> 'mandate' ->> 'payer' = $1 order by attempt_id`,
      [address],
    );
  const activation = async ({ address }: PayerWallet) => {
    const rows = await asOwner<{ status: string; fault: string | null; is_unapproved: boolean }>(
      store.service,
      `select status, fault, unapproved_since is not null as is_unapproved from mandate_activation
       where mandate ->> 'payer' = $1 order by created_at desc limit 1`,
      [address],
    );
    return rows[0];
  };
  const isActive = (id: string) => store.until(() => calls().read(id), { status: 'active' });
  const refused = (param: string, message: string) => ({
    status: 400,
    json: { error: { param, message: expect.stringContaining(message) } },
  });

  test('an approval that is lowered below the price before its mandate is sent: no gas, and the reason is told', async () => {
    const { id, page } = await ordered('USDT');
    const payer = await PayerWallet.start(store, FUNDS);
    await fees(500);
    await payer.subscribe({ checkout_url: page });
    await payer.approve(COLLECTOR, BigInt(PRICE) - 1n);
    await fees(1);
    await store.until(() => activation(payer), { status: 'open', is_unapproved: true });
    expect(await activations(payer)).toEqual([]);
    await moveClock(store, 3_700);
    await store.until(() => activation(payer), { status: 'failed', fault: 'no_allowance' });
    await store.until(() => calls().latest(id), { payment_status: 'failed' });
    const { payment_id: payment = '' } = (await calls().invoices(id)).at(-1) ?? {};
    expect(payment).not.toBe('');
    const [failed] = await asOwner<{ code: string }>(
      store.service,
      "select failure_code as code from transfer where address = $1 and status = 'failed'",
      [payer.address],
    );
    expect(failed).toEqual({ code: 'insufficient_allowance' });
    expect(await activations(payer)).toEqual([]);
    expect(await payer.balance()).toBe(FUNDS);
    // Signed anew, the subscription begins.
    await payer.subscribe({ checkout_url: page });
    await isActive(id);
  });

  test('two subscriptions of one wallet at once: of the same approval the second is told so, and is asked anew', async () => {
    const [first, second] = [await ordered('USDC'), await ordered('USDC')];
    const payer = await PayerWallet.start(store, FUNDS, 'USDC');
    await fees(500);
    const offers = [await payer.offer(first.page), await payer.offer(second.page)] as const;
    const given = [];
    for (const [i, { page }] of [first, second].entries()) {
      const offer = offers[i];
      if (offer === undefined) throw new Error('both are offered');
      given.push(() =>
        payer.sign(offer).then(async (signed) => payer.give(page, offer, signed, await payer.permit(offer))),
      );
    }
    const answers = await Promise.all(given.map((give) => give()));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    const [late, late_offer] = answers[0]?.status === 400 ? [first, offers[0]] : [second, offers[1]];
    const early = late === first ? second : first;
    expect(answers.find(({ status }) => status === 400)).toMatchObject(
      refused('permit_nonce', 'in a minute'),
    );
    expect(permitOf(late_offer.steps[0]).nonce).toBe('0');
    await expect(payer.offer(late.page)).rejects.toThrow('permit_nonce');
    await fees(1);
    await isActive(early.id);
    // The first one is there: the second one signs with the next number.
    const offer = await payer.offer(late.page);
    expect(permitOf(offer.steps[0]).nonce).toBe('1');
    await payer.subscribe({ checkout_url: late.page });
    await isActive(late.id);
    expect(await payer.balance()).toBe(FUNDS - 2n * BigInt(PRICE));
    const codes = await asOwner(
      store.service,
      "select failure_code from transfer where address = $1 and status = 'failed'",
      [payer.address],
    );
    expect(codes).toEqual([]);
  });

  test('a wallet that holds less than is due is refused in words before anything is sent', async () => {
    const { id, page } = await ordered('USDC');
    const poor = await PayerWallet.start(store, BigInt(PRICE) - 1n, 'USDC');
    const offer = await poor.offer(page);
    const [signature, permit] = [await poor.sign(offer), await poor.permit(offer)];
    expect(await poor.give(page, offer, signature, permit)).toMatchObject(
      refused('balance', 'fill it first'),
    );
    expect(await activation(poor)).toBeUndefined();
    await store.world.mint('USDC', poor.address, 1n);
    expect(await poor.give(page, offer, signature, permit)).toMatchObject({ status: 200 });
    await isActive(id);
    expect(await poor.balance()).toBe(0n);
  });
});
