import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { all, refusal, shop, TOKEN } from './requests.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const FUNDS = 1_000n * BigInt(TOKEN);

test('a refund to a given address is paid once, and events, balances, ledger and payment show it', async () => {
  const { merchant, paid, refund, ended, balance, payment } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  const made = await refund({
    refund_id: 'order-1_part-1',
    payment_id: id,
    amount: 30 * TOKEN,
    currency: 'USDT',
    address: erc20.succeed,
    reason: 'a broken cup',
    metadata: { cup: 1 },
  });
  expect(made).toMatchObject({
    refund_id: 'order-1_part-1',
    object: 'refund',
    store_id: (await payment(id)).store_id,
    payment_id: id,
    amount: 30 * TOKEN,
    currency: 'USDT',
    network: 'erc20',
    address: erc20.succeed,
    claim_url: null,
    status: 'pending',
    tx_id: null,
    failure_reason: null,
    reason: 'a broken cup',
    metadata: { cup: 1 },
    completed_at: null,
    lost_at: null,
  });
  const over = await ended('order-1_part-1');
  expect(over).toMatchObject({ status: 'succeeded', failure_reason: null, address: erc20.succeed });
  const transfers = await all(merchant.sdk.testHelpers.transfers('erc20', erc20.succeed));
  expect(transfers.map(({ tx_id, amount }) => [tx_id, amount])).toEqual([[over.tx_id, 30 * TOKEN]]);
  expect(await payment(id)).toMatchObject({ status: 'completed', amount_refunded: 30 * TOKEN });
  expect(await balance()).toEqual({ available: 3_070 * TOKEN, held: 0, refund_hold: 0 });
  const events = await all(merchant.sdk.events.list({ resource: 'order-1_part-1' }));
  expect(events).toMatchObject([{ type: 'refund.succeeded', sequence: 1, data: { object: over } }]);
  expect(events[0]?.data.previous_attributes).toMatchObject({ status: 'processing', tx_id: null });
  const entries = await all(merchant.sdk.ledgerEntries.list({ cause: 'order-1_part-1' }));
  expect(entries.map(({ debit, credit }) => `${debit} → ${credit}`).sort()).toEqual([
    'available → refund_hold',
    'custody_hold:erc20 → custody:erc20',
    'refund_hold → custody_hold:erc20',
  ]);
  expect(entries[0]?.cause).toEqual({ type: 'refund', id: 'order-1_part-1' });
});

test('all that is left is the default; nothing is left afterwards', async () => {
  const { merchant, paid, refund, create, ended, payment } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id, checkout_session } = await paid({ amount: 130 * TOKEN });
  await refund({
    payment_id: checkout_session,
    amount: 30 * TOKEN,
    currency: 'USDT',
    address: erc20.succeed,
  });
  const rest = await refund({ refund_id: 'rest', payment_id: id, address: erc20.succeed });
  expect(rest.amount).toBe(100 * TOKEN);
  expect(refusal(await create({ payment_id: id, address: erc20.succeed }))).toBe('400 amount');
  expect(await ended('rest')).toMatchObject({ status: 'succeeded' });
  expect(await payment(id)).toMatchObject({ amount_refunded: 130 * TOKEN, exceptions: ['overpaid'] });
});

test('a refund that the chain rejects releases everything, and its amount can be refunded again', async () => {
  const { merchant, paid, refund, ended, balance, payment } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  await refund({ refund_id: 'bad', payment_id: id, address: erc20.fail });
  const failed = await ended('bad');
  expect(failed).toMatchObject({ status: 'failed', failure_reason: 'transfer_failed' });
  expect(await balance()).toEqual({ available: 3_100 * TOKEN, held: 0, refund_hold: 0 });
  expect(await payment(id)).toMatchObject({ amount_refunded: 0 });
  const events = await all(merchant.sdk.events.list({ resource: 'bad' }));
  expect(events).toMatchObject([{ type: 'refund.failed', data: { object: failed } }]);
  await refund({ refund_id: 'good', payment_id: id, address: erc20.succeed });
  expect(await ended('good')).toMatchObject({ status: 'succeeded', amount: 100 * TOKEN });
});

test('an address that is listed between creation and sending is not paid', async () => {
  const { merchant, paid, refund, ended, balance } = await shop(service, { funds: FUNDS });
  const { trc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid({ network: 'trc20' });
  await refund({ refund_id: 'listed', payment_id: id, address: trc20.risk_rejected });
  expect(await ended('listed')).toMatchObject({
    status: 'failed',
    failure_reason: 'address_risk',
    tx_id: null,
  });
  expect(await balance()).toEqual({ available: 3_100 * TOKEN, held: 0, refund_hold: 0 });
});

test('money of an uncompleted payment leaves held, and returns to the balance that holds it then', async () => {
  const { merchant, open, pay, accept, refund, ended, balance, cancel, cancelSession, payment, post } =
    await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const session = await open();
  await cancelSession(session.id);
  const { id } = await pay(session.id, { amount: 40 * TOKEN });
  expect(await balance()).toEqual({ available: 3_000 * TOKEN, held: 40 * TOKEN, refund_hold: 0 });
  await refund({ refund_id: 'claimed', payment_id: id, amount: 10 * TOKEN, currency: 'USDT' });
  expect(await balance()).toEqual({ available: 3_000 * TOKEN, held: 30 * TOKEN, refund_hold: 10 * TOKEN });
  expect(refusal(await post(`/payment/${id}/accept`))).toBe('400 invalid_request_error');
  expect((await cancel('claimed')).json).toMatchObject({ status: 'canceled', claim_url: null });
  expect(await balance()).toEqual({ available: 3_000 * TOKEN, held: 40 * TOKEN, refund_hold: 0 });
  expect(await accept(id)).toMatchObject({ status: 'completed' });
  await refund({ refund_id: 'after', payment_id: id, address: erc20.succeed });
  expect(await balance()).toEqual({ available: 3_000 * TOKEN, held: 0, refund_hold: 40 * TOKEN });
  expect(await ended('after')).toMatchObject({ status: 'succeeded' });
  expect(await payment(id)).toMatchObject({ amount_refunded: 40 * TOKEN });
});

test('a wrong token is refunded by tx_id only: in its own asset, from held, and never by the payment', async () => {
  const { merchant, open, pay, refund, create, ended, balance, payment, post } = await shop(service, {
    funds: FUNDS,
  });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const session = await open();
  const wrong = await pay(session.id, { currency: 'USDC', amount: 30 * TOKEN });
  const txId = wrong.transactions[0]?.tx_id ?? '';
  const by = { payment_id: wrong.id, tx_id: txId, address: erc20.succeed };
  expect(refusal(await create({ payment_id: wrong.id, address: erc20.succeed }))).toBe('400 payment_id');
  expect(refusal(await create({ ...by, amount: TOKEN, currency: 'USDT' }))).toBe('400 currency');
  expect(refusal(await create({ ...by, tx_id: '0xdead' }))).toBe('400 tx_id');
  expect(refusal(await create({ ...by, amount: 31 * TOKEN, currency: 'USDC' }))).toBe('400 amount');
  const part = await refund({ ...by, refund_id: 'part', amount: 10 * TOKEN, currency: 'USDC' });
  expect(part).toMatchObject({ currency: 'USDC', network: 'erc20', amount: 10 * TOKEN });
  expect(await balance('USDC')).toEqual({
    available: 3_000 * TOKEN,
    held: 20 * TOKEN,
    refund_hold: 10 * TOKEN,
  });
  expect(await ended('part')).toMatchObject({ status: 'succeeded' });
  expect(await refund({ ...by, refund_id: 'rest', tx_id: `${txId}:0` })).toMatchObject({
    amount: 20 * TOKEN,
  });
  expect(await ended('rest')).toMatchObject({ status: 'succeeded' });
  expect(refusal(await create(by))).toBe('400 tx_id');
  expect(await payment(wrong.id)).toMatchObject({ status: 'pending', amount_refunded: 0 });
  expect(refusal(await post(`/payment/${wrong.id}/accept`, { tx_id: txId }))).toBe('400 tx_id');
});

test('refused requests do not use up their refund_id', async () => {
  const { merchant, open, paid, create, balance } = await shop(service, { funds: FUNDS });
  const { erc20, trc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  const unpaid = await open();
  const base = { refund_id: 'same', payment_id: id, address: erc20.succeed };
  const cases: [body: object, expected: string][] = [
    [{ ...base, refund_id: '' }, '400 refund_id'],
    [{ ...base, refund_id: 'a b' }, '400 refund_id'],
    [{ ...base, refund_id: 'x'.repeat(65) }, '400 refund_id'],
    [{ ...base, amount: TOKEN }, '400 currency'],
    [{ ...base, amount: 0, currency: 'USDT' }, '400 amount'],
    [{ ...base, amount: TOKEN, currency: 'USDC' }, '400 currency'],
    [{ ...base, currency: 'USDC' }, '400 currency'],
    [{ ...base, amount: 100 * TOKEN + 1, currency: 'USDT' }, '400 amount'],
    [{ ...base, payment_id: 'pay_unknown' }, '404 resource_not_found'],
    [{ ...base, payment_id: unpaid.payment_id }, '400 payment_id'],
    [{ ...base, address: trc20.succeed }, '400 address'],
    [{ ...base, address: `${erc20.succeed}0` }, '400 address'],
    [{ ...base, address: '0x0000000000000000000000000000000000000000' }, '400 address'],
    [{ ...base, reason: 'x'.repeat(501) }, '400 reason'],
    [{ ...base, other: 1 }, '400 other'],
    [{ ...base, address: null }, '400 address'],
    [{ payment_id: id, refund_id: null }, '400 refund_id'],
  ];
  for (const [body, expected] of cases) expect([body, refusal(await create(body))]).toEqual([body, expected]);
  expect(await balance()).toEqual({ available: 3_100 * TOKEN, held: 0, refund_hold: 0 });
  expect((await create({ ...base, amount: TOKEN, currency: 'USDT' })).status).toBe(200);
});

test('a refund_id may equal the id of its payment: their events have separate sequences', async () => {
  const { merchant, paid, refund, ended } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  await refund({ refund_id: id, payment_id: id, address: erc20.succeed });
  expect(await ended(id)).toMatchObject({ status: 'succeeded' });
  const events = await all(merchant.sdk.events.list({ resource: id }));
  const completed = events.filter(({ type }) => type !== 'payment.updated');
  expect(completed.map(({ type, sequence }) => [type, sequence])).toEqual([
    ['refund.succeeded', 1],
    ['payment.completed', expect.any(Number)],
  ]);
  const entries = await all(merchant.sdk.ledgerEntries.list({ cause: id }));
  expect(new Set(entries.map(({ cause }) => cause.type))).toEqual(new Set(['refund', 'payment']));
});
