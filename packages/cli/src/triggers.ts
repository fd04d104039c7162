import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckoutSession, EventType, Florin } from '@florin/sdk';
import { BILLING_RECIPES } from './billing-triggers.ts';
import { CommandFailure } from './failure.ts';
import type { Recipe, Triggered } from './recipe.ts';

const PRICE = { amount: 1_999n, currency: 'USD', description: 'florin trigger' };
const OPTION = { currency: 'USDT', network: 'trc20' } as const;
/** The shortest lifetime of a session. */
const EXPIRES_IN = 300;

const openSession = ({ checkout }: Florin, expiresIn?: number): Promise<CheckoutSession> =>
  checkout.sessions.create({ ...PRICE, ...(expiresIn === undefined ? {} : { expires_in: expiresIn }) });

const REFUND_WITHIN_MS = 60_000;
const REFUND_LOOK_MS = 200;

/** Pays a session and refunds it to a test address, to the end. */
async function refundTo(florin: Florin, fate: 'succeed' | 'fail'): Promise<Triggered> {
  const { id } = await openSession(florin);
  const payment = await florin.testHelpers.checkout.sessions.pay(id, OPTION);
  const addresses = await florin.testHelpers.addresses();
  const address = addresses[OPTION.network][fate];
  let refund = await florin.refunds.create({ payment_id: payment.id, address });
  const { refund_id: resource } = refund;
  for (const untilMs = Date.now() + REFUND_WITHIN_MS; refund.completed_at === null; ) {
    if (Date.now() > untilMs)
      throw new CommandFailure('not_in_time', `${resource} is still ${refund.status}: do workers run?`);
    await sleep(REFUND_LOOK_MS);
    refund = await florin.refunds.retrieve(resource);
  }
  return { resource, said: `Refunded ${payment.id} by ${resource}: it is ${refund.status}.` };
}

/** For each event type, a real change in the sandbox that causes it. */
export const RECIPES: Partial<Record<EventType, Recipe>> = {
  'payment.completed': async (florin) => {
    const { id } = await openSession(florin);
    const payment = await florin.testHelpers.checkout.sessions.pay(id, OPTION);
    return { resource: payment.id, said: `Paid ${id} exactly: ${payment.id} is ${payment.status}.` };
  },
  'payment.failed': async (florin) => {
    const { id } = await openSession(florin);
    const payment = await florin.testHelpers.checkout.sessions.pay(id, { ...OPTION, from: 'sanctioned' });
    return {
      resource: payment.id,
      said: `Paid ${id} from a listed wallet: ${payment.id} is ${payment.status}.`,
    };
  },
  'payment.expired': async (florin) => {
    const { id, payment_id } = await openSession(florin, EXPIRES_IN);
    await florin.testHelpers.advanceClock(EXPIRES_IN + 1);
    const said = `Created ${id} and moved the sandbox's clock ${EXPIRES_IN + 1} s ahead: nobody paid.`;
    return { resource: payment_id, said };
  },
  'payment.cancelled': async (florin) => {
    const { id } = await openSession(florin);
    const { payment_id } = await florin.checkout.sessions.cancel(id);
    return { resource: payment_id, said: `Created and canceled ${id}.` };
  },
  'payment.updated': async (florin) => {
    const { id } = await openSession(florin);
    const payment = await florin.testHelpers.checkout.sessions.pay(id, { ...OPTION, amount: '1.00' });
    return { resource: payment.id, said: `Paid a part of ${id}: 1.00 USDT of ${payment.id} is held.` };
  },
  'refund.succeeded': (florin) => refundTo(florin, 'succeed'),
  'refund.failed': (florin) => refundTo(florin, 'fail'),
  ...BILLING_RECIPES,
  'payout_batch.updated': async ({ testHelpers, payouts }) => {
    const { trc20 } = await testHelpers.addresses();
    const item = { network: 'trc20', address: trc20.succeed, amount: '12.50' } as const;
    const { batch_id } = await payouts.create({
      currency: 'USDT',
      description: 'florin trigger',
      items: [item],
    });
    await payouts.submit(batch_id);
    return { resource: batch_id, said: `Created and submitted ${batch_id}; it is paid within seconds.` };
  },
  'webhook_endpoint.test': async ({ webhookEndpoints }) => {
    for await (const { id, status, url } of webhookEndpoints.list()) {
      if (status !== 'enabled') continue;
      await webhookEndpoints.test(id);
      return { resource: id, said: `Sent a test to ${url} (${id}).` };
    }
    throw new CommandFailure('no_endpoint', 'There is no enabled webhook endpoint to send a test to.');
  },
};
