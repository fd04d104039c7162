import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { World } from './world.ts';

let world: World;
let paymentId = '';
let units = 0;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1 });
  const session = await world.merchant.insist('POST', '/checkout/sessions/create', {
    amount: 900_000_000,
    currency: 'USDT',
  });
  paymentId = String(session.payment_id);
  const payment = await world.merchant.insist(
    'POST',
    `/test_helpers/checkout/sessions/${String(session.id)}/pay`,
    {
      currency: 'USDT',
      network: 'erc20',
    },
  );
  if (payment.status !== 'completed') throw new Error(`the payment is ${String(payment.status)}`);
}, 120_000);
afterAll(() => world?.close());

const AT_CREATE = [
  'refund.before-transaction',
  'refund.key-claimed',
  'refund.inserted',
  'refund.reserved',
  'refund.before-commit',
] as const;
const AFTER_CREATE = ['refund.after-commit', 'refund.before-reply'] as const;
const AT_WORK = [
  'refund-send.claimed',
  'refund-send.coins-reserved',
  'refund-send.before-commit',
  'refund-send.after-commit',
  'refund-settle.before',
  'refund-settle.before-commit',
  'refund-settle.after-commit',
] as const;

/** A refund of an amount that no other movement of coins has. */
function refundBody(to: 'succeed' | 'fail' = 'succeed') {
  units += 1;
  return {
    refund_id: `r-${randomUUID()}`,
    payment_id: paymentId,
    amount: 1_000_000 + units,
    currency: 'USDT',
    address: testAddresses('erc20')[to],
  };
}

const rowsOf = (refundId: string) =>
  world.database.query<{ status: string }>('select status from refund where own_id = $1', [refundId]);

/** Lets the first server die in a create. @returns the request that nobody answered, and what it left */
async function createAndDie(crashPoint: string) {
  await world.server.kill();
  await world.server.start({ crashPoint });
  const body = refundBody();
  const lost = await world.merchant.request('POST', '/refunds/create', { body, node: 0 });
  expect(lost.status).toBe(0);
  expect(await world.server.ended).toEqual({ signal: 'SIGKILL', code: null });
  return { body, left: await rowsOf(body.refund_id) };
}

test.each(AT_CREATE)(
  'fault 3, B3: a server that dies at %s leaves nothing; the same refund_id again makes the refund',
  async (at) => {
    const { body, left } = await createAndDie(at);
    expect(left).toEqual([]);
    const retried = await world.merchant.request('POST', '/refunds/create', { body, node: 1 });
    expect(retried.status, retried.text).toBe(200);
    expect(await rowsOf(body.refund_id)).toHaveLength(1);
  },
  60_000,
);

test.each(AFTER_CREATE)(
  'fault 3, B2: a server that dies at %s has made the refund; the same refund_id again shows it',
  async (at) => {
    const { body, left } = await createAndDie(at);
    expect(left).toHaveLength(1);
    const found = await world.merchant.request('GET', `/refunds/${body.refund_id}`, { node: 1 });
    const retried = await world.merchant.request('POST', '/refunds/create', { body, node: 1 });
    expect(retried.status, retried.text).toBe(200);
    expect(retried.answer).toMatchObject({ refund_id: body.refund_id, created: found.answer.created });
    expect(await rowsOf(body.refund_id)).toHaveLength(1);
  },
  60_000,
);

test.each(AT_WORK)(
  'fault 3, I2: a worker that dies at %s of a refund pays it once',
  async (at) => {
    await world.worker.kill();
    await world.worker.start({ crashPoint: at });
    const body = refundBody(at === 'refund-settle.before' ? 'fail' : 'succeed');
    await world.merchant.insist('POST', '/refunds/create', body);
    expect(await world.worker.ended).toEqual({ signal: 'SIGKILL', code: null });
    await world.worker.start();
    await expect
      .poll(
        async () => {
          await world.controlChain('erc20', { mine: 3 });
          return (await rowsOf(body.refund_id))[0]?.status;
        },
        { timeout: 60_000, interval: 250 },
      )
      .toBe(at === 'refund-settle.before' ? 'failed' : 'succeeded');
  },
  120_000,
);

test('fault 3: after all of it every refund is over, and nothing is lost or double', async () => {
  expect(await world.judge()).toEqual([]);
}, 150_000);
