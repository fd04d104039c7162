import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { type Finished, florin } from '../florin-command.ts';
import { World } from './world.ts';

const BEFORE_COMMIT = ['refund-approval.voted', 'refund-approval.before-commit'] as const;
const AFTER_COMMIT = 'refund-approval.after-commit';

let world: World;
let paymentId = '';
let units = 0;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1 });
  const merchant = encodeId('merchant', world.merchant.merchantId);
  await world.operate(async ({ settings }) => {
    await settings.set('refunds.approval_above', '1.00', merchant);
    await settings.set('refunds.approvals', '2', merchant);
  });
  const order = { amount: 900_000_000, currency: 'USDT' };
  const session = await world.merchant.insist('POST', '/checkout/sessions/create', order);
  paymentId = String(session.payment_id);
  const pay = `/test_helpers/checkout/sessions/${String(session.id)}/pay`;
  const payment = await world.merchant.insist('POST', pay, { currency: 'USDT', network: 'erc20' });
  if (payment.status !== 'completed') throw new Error(`the payment is ${String(payment.status)}`);
}, 120_000);
afterAll(() => world?.close());

/** A refund that the first of two people has approved. */
async function approvedOnce(): Promise<string> {
  units += 1;
  const refundId = `r-${randomUUID()}`;
  await world.merchant.insist('POST', '/refunds/create', {
    refund_id: refundId,
    payment_id: paymentId,
    amount: 1_000_000 + units,
    currency: 'USDT',
    address: testAddresses('erc20').succeed,
  });
  await world.operate(({ refunds }) => refunds.approve({ refund: refundId, ...world.approvers[0] }));
  return refundId;
}

/** The second person decides, in a process of its own that may die on the way. */
async function decide(verb: 'approve' | 'reject', refundId: string, crashPoint?: string): Promise<Finished> {
  const dying = crashPoint === undefined ? {} : { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: crashPoint };
  const [, second] = world.approvers;
  const env = { ...world.operatorEnv, FLORIN_APPROVER_TOKEN: second.token, ...dying };
  return await florin(['refunds', verb, refundId, '--as', second.as, '--json'], { env });
}

const statusOf = async (refundId: string) =>
  (await world.merchant.insist('GET', `/refunds/${refundId}`)).status;
async function expectPaid(refundId: string): Promise<void> {
  const status = async () => {
    await world.controlChain('erc20', { mine: 3 });
    return await statusOf(refundId);
  };
  await expect.poll(status, { timeout: 60_000, interval: 250 }).toBe('succeeded');
}

test.each(BEFORE_COMMIT)(
  'fault 3: a second person whose process dies at %s has approved nothing; repeated, it is paid once',
  async (at) => {
    const refundId = await approvedOnce();
    expect(await decide('approve', refundId, at)).toMatchObject({ code: null, stdout: '' });
    expect(await statusOf(refundId)).toBe('pending');
    const waiting = await florin(['refunds', 'awaiting-approval'], { env: world.operatorEnv });
    expect(waiting.stdout).toContain(refundId);
    expect(waiting.stdout).toContain(testAddresses('erc20').succeed);
    const repeated = await decide('approve', refundId);
    expect(JSON.parse(repeated.stdout)).toMatchObject({ refund_id: refundId, approvals: 2 });
    await expectPaid(refundId);
  },
  120_000,
);

test('fault 3: one that dies after its commit has approved; repeated, it is refused, and the refund paid once', async () => {
  const refundId = await approvedOnce();
  expect(await decide('approve', refundId, AFTER_COMMIT)).toMatchObject({ code: null, stdout: '' });
  expect((await decide('approve', refundId)).code).toBe(1);
  await expectPaid(refundId);
}, 120_000);

test('fault 3: a rejection that dies on the way leaves the refund waiting; repeated, its money is given back', async () => {
  const refundId = await approvedOnce();
  for (const at of BEFORE_COMMIT) {
    expect(await decide('reject', refundId, at)).toMatchObject({ code: null, stdout: '' });
    expect(await statusOf(refundId)).toBe('pending');
  }
  expect(JSON.parse((await decide('reject', refundId)).stdout)).toMatchObject({ status: 'canceled' });
  expect(await statusOf(refundId)).toBe('canceled');
}, 120_000);

test('fault 3: after all of it nothing is lost or double', async () => {
  expect(await world.judge()).toEqual([]);
}, 150_000);
