import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { paymentCommands } from '../../packages/server/src/operator/payments.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import * as storeApprovers from '../../packages/server/src/stores/approvers/index.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { all } from '../refunds/requests.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { checkout, eventTypesOf, TOKEN } from './requests.ts';

const HUNDRED = 100 * TOKEN;
const POLL = { timeout: 60_000, interval: 200 };
let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

type Verb = 'release' | 'keep';
const PEOPLE = ['Ann', 'Bob', 'Cid', 'Dee'] as const;
type Person = (typeof PEOPLE)[number];

/** A shop with a payment that a sanctioned wallet has paid, and four people who may decide. */
async function frozen(options: { expires_in?: number } = {}) {
  const merchant = await service.createMerchant({ funds: 0n });
  const calls = checkout(service, merchant);
  const tokens = new Map<Person, string>();
  for (const name of PEOPLE)
    tokens.set(name, await storeApprovers.addApprover(service.app, merchant.merchantId, name));
  const made = await calls.open(options);
  const { transactions } = await calls.pay(made.id, { from: 'sanctioned' });
  const payment = made.payment_id;
  const txId = transactions[0]?.tx_id ?? '';
  const decide = async (verb: Verb, as: Person, over: { txId?: string; token?: string } = {}) => {
    try {
      const verdict = { payment, txId, as, token: tokens.get(as) ?? '', ...over };
      const { done, agreed, payment: after } = await paymentCommands(service.app)[verb](verdict);
      return { done, agreed, status: after.status };
    } catch (error) {
      if (error instanceof Fail) return error.code;
      throw error;
    }
  };
  return { merchant, made, txId, decide, ...calls };
}

async function usdtOf({ sdk }: TestMerchant) {
  const row = (await sdk.balances.retrieve()).data.find((one) => one.currency === 'USDT');
  return { available: row?.available, held: row?.held, seized: row?.seized };
}

const accountsOf = ({ merchantId }: TestMerchant) =>
  asOwner<{ account: string; balance: string }>(
    service,
    `select account, balance::text from ledger_account
     where merchant_id = $1 and currency = 'USDT' and balance <> 0 order by account`,
    [merchantId],
  );

test('two people release: the money counts as if it came now, is swept, and each votes once', async () => {
  const { merchant, made, decide, payment } = await frozen();
  expect(await decide('release', 'Ann')).toEqual({ done: false, agreed: 1, status: 'frozen' });
  expect(await decide('release', 'Ann')).toBe('invalid_request');
  expect(await decide('keep', 'Ann')).toBe('invalid_request');
  expect(await decide('release', 'Bob', { token: 'fla_wrong' })).toBe('forbidden');
  expect(await decide('release', 'Bob', { txId: '0x00' })).toBe('invalid_request');
  expect(await usdtOf(merchant)).toEqual({ available: 0, held: 0, seized: HUNDRED });
  expect(await decide('release', 'Bob')).toEqual({ done: true, agreed: 2, status: 'completed' });
  expect(await decide('release', 'Cid')).toBe('invalid_request');
  expect(await usdtOf(merchant)).toEqual({ available: HUNDRED, held: 0, seized: 0 });
  expect((await payment(made.payment_id)).transactions).toMatchObject([{ kind: 'counted', status: 'final' }]);
  expect(await eventTypesOf(merchant, made.payment_id)).toEqual(['payment.failed', 'payment.completed']);
  const chain = service.app.chains.sandbox(merchant.merchantId, 'erc20');
  const inWallet = async () => {
    await chain.mine(3);
    return Number(await chain.balance(await chain.hotAddress(), 'USDT', 'final'));
  };
  await expect.poll(inWallet, POLL).toBe(HUNDRED);
}, 90_000);

test('two people keep: the money is the operator’s for good, and the payment is open again until it expires', async () => {
  const { merchant, made, decide, session, pay } = await frozen({ expires_in: 600 });
  expect(await decide('keep', 'Ann')).toMatchObject({ done: false, status: 'frozen' });
  expect(await decide('keep', 'Bob')).toMatchObject({ done: true, status: 'pending' });
  expect(await accountsOf(merchant)).toEqual([
    { account: 'float:erc20', balance: String(HUNDRED) },
    { account: 'kept:erc20', balance: String(HUNDRED) },
  ]);
  expect(await pay(made.id, { amount: 40 * TOKEN })).toMatchObject({
    status: 'pending',
    exceptions: ['underpaid'],
  });
  await merchant.sdk.testHelpers.advanceClock(700);
  expect(await session(made.id)).toMatchObject({ status: 'expired' });
  expect(await eventTypesOf(merchant, made.payment_id)).toEqual(['payment.failed', 'payment.expired']);
  const sweeps = await asOwner<{ amount: string }>(
    service,
    `select amount::text from transfer where merchant_id = $1 and owner_type = 'sweep'`,
    [merchant.merchantId],
  );
  expect(sweeps).toEqual([{ amount: String(40 * TOKEN) }]);
}, 90_000);

test('two who disagree decide nothing; a third does', async () => {
  const { merchant, decide } = await frozen();
  expect(await decide('release', 'Ann')).toMatchObject({ done: false, agreed: 1 });
  expect(await decide('keep', 'Bob')).toMatchObject({ done: false, agreed: 1 });
  expect(await usdtOf(merchant)).toMatchObject({ seized: HUNDRED });
  expect(await decide('keep', 'Cid')).toMatchObject({ done: true, agreed: 2 });
  expect(await usdtOf(merchant)).toMatchObject({ seized: 0, available: 0 });
});

test('money released after the expiry is late: it completes within a day, after that it is held', async () => {
  for (const [days, status] of [
    [0, 'completed'],
    [2, 'expired'],
  ] as const) {
    const { merchant, made, decide, payment, session } = await frozen({ expires_in: 300 });
    await merchant.sdk.testHelpers.advanceClock(400 + days * 86_400);
    expect(await session(made.id)).toMatchObject({ status: 'frozen' });
    await decide('release', 'Ann');
    expect(await decide('release', 'Bob')).toMatchObject({ done: true, status });
    expect(await payment(made.payment_id)).toMatchObject({ status, exceptions: ['late'] });
    const [available, held] = status === 'completed' ? [HUNDRED, 0] : [0, HUNDRED];
    expect(await usdtOf(merchant)).toEqual({ available, held, seized: 0 });
  }
}, 120_000);

test('after another option has paid, released money is a wrong token, held until it is accepted', async () => {
  const { merchant, made, decide, pay, accept, txId } = await frozen();
  expect(await pay(made.id)).toMatchObject({ status: 'completed' });
  const other = await pay(made.id, { currency: 'USDC', from: 'sanctioned', amount: 5 * TOKEN });
  const wrong = other.transactions.find((t) => t.currency === 'USDC')?.tx_id ?? '';
  await decide('release', 'Ann', { txId: wrong });
  expect(await decide('release', 'Bob', { txId: wrong })).toMatchObject({ done: true, status: 'completed' });
  const usdc = async () =>
    (await merchant.sdk.balances.retrieve()).data.find((row) => row.currency === 'USDC');
  expect(await usdc()).toMatchObject({ available: 0, held: 5 * TOKEN, seized: 0 });
  await accept(made.payment_id, { tx_id: wrong });
  expect(await usdc()).toMatchObject({ available: 5 * TOKEN, held: 0 });
  // What came from the sanctioned wallet first stays seized, whatever became of the payment.
  expect(await usdtOf(merchant)).toMatchObject({ available: HUNDRED, seized: HUNDRED });
  await decide('release', 'Ann', { txId });
  expect(await decide('release', 'Bob', { txId })).toMatchObject({ done: true });
  expect(await usdtOf(merchant)).toMatchObject({ available: 2 * HUNDRED, seized: 0 });
}, 60_000);

test('a decision about a transfer of a completed payment is an event, though the payment stays equal', async () => {
  const { merchant, made, decide, pay } = await frozen();
  expect(await pay(made.id)).toMatchObject({ status: 'completed' });
  const updates = async () =>
    await all(merchant.sdk.events.list({ resource: made.payment_id, type: 'payment.updated' }));
  const before = (await updates()).length;
  await decide('keep', 'Ann');
  expect(await updates()).toHaveLength(before);
  expect(await decide('keep', 'Bob')).toMatchObject({ done: true, status: 'completed' });
  const after = await updates();
  expect(after).toHaveLength(before + 1);
  expect(after[0]?.data).toMatchObject({ object: { status: 'completed' }, previous_attributes: {} });
}, 60_000);

test('F6: four people decide at once: one outcome, booked once', async () => {
  for (let round = 0; round < scaled(50, 4); round++) {
    const { merchant, made, decide, payment } = await frozen();
    const answers = await Promise.all([
      decide('release', 'Ann'),
      decide('keep', 'Bob'),
      decide('release', 'Cid'),
      decide('keep', 'Dee'),
    ]);
    expect(answers.filter((answer) => typeof answer === 'object' && answer.done)).toHaveLength(1);
    const { status } = await payment(made.payment_id);
    const accounts = (await accountsOf(merchant)).map(({ account }) => account.split(':', 1)[0]);
    if (status === 'completed') expect(accounts).toEqual(['available', 'custody']);
    else expect([status, accounts]).toEqual(['pending', ['float', 'kept']]);
  }
}, 120_000);
