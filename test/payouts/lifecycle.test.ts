import { type Network, parseNonNegativeAmount } from '@florin/contract/money';
import type { PayoutBatch } from '@florin/contract/schemas';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { bodyOf, type Calls, caller, configure, draft, TO, verdict } from './requests.ts';

// Without a worker: a batch until a worker takes it.
let service: TestService;
let merchant: TestMerchant;
let calls: Calls;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  merchant = await service.createMerchant();
  calls = caller(service, merchant);
});
afterEach(() => expectLedgerWhole(service));

async function available(currency: 'USDT' | 'USDC' = 'USDT') {
  const { data } = await merchant.sdk.balances.retrieve();
  const row = data.find((one) => one.currency === currency);
  return { available: row?.available, payout_hold: row?.payout_hold, custody_hold: row?.custody_hold };
}
const put = (batchId: string, itemId: string | undefined, item: object) =>
  calls.call(`/payout-batches/${batchId}/items/${itemId}`, { method: 'PUT', body: JSON.stringify(item) });
const drop = (batchId: string, itemId: string | undefined) =>
  calls.call(`/payout-batches/${batchId}/items/${itemId}`, { method: 'DELETE' });
const bad = (network: Network = 'erc20') => ({ network, address: 'nowhere', amount: '3' });

test('a new batch has every field, amounts with two decimals, and null for empty fields', async () => {
  const batch = await draft(calls, ['1', '0.1', '2.05']);
  const now = Math.floor(Date.now() / 1000);
  expect(batch).toEqual({
    batch_id: expect.stringMatching(/^pb_[0-9a-z]{26}$/),
    status: 'draft',
    currency: 'USDT',
    network: 'erc20',
    total_count: 3,
    valid_count: 3,
    invalid_count: 0,
    success_count: 0,
    failed_count: 0,
    total_amount: '3.15',
    // 1.00 and 10 basis points of each, rounded up to the cent.
    service_fee_amount: '3.03',
    debit_amount: '6.18',
    frozen_amount: '0.00',
    charged_service_fee_amount: '0.00',
    can_submit: true,
    validation_errors: [],
    description: null,
    created_at: expect.any(Number),
    submitted_at: null,
    completed_at: null,
  });
  expect(Math.abs(batch.created_at - now)).toBeLessThan(5);
  const [first] = await calls.items(batch.batch_id);
  expect(first).toEqual({
    item_id: expect.stringMatching(/^pbi_[0-9a-z]{26}$/),
    batch_id: batch.batch_id,
    index: 0,
    real_name: null,
    network: 'erc20',
    address: TO.erc20.succeed,
    memo: null,
    amount: '1.00',
    service_fee_amount: '1.01',
    status: 'valid',
    validation_errors: [],
    tx_id: null,
    failure_code: null,
    failure_message: null,
    created_at: batch.created_at,
    completed_at: null,
    lost_at: null,
  });
  const one = await calls.call(`/payout-batches/${batch.batch_id}/items/${first?.item_id}`);
  expect(one.json).toEqual(first);
});

test('texts are stored as sent, at every allowed length', async () => {
  const item = {
    ...bodyOf(['1']).items[0],
    real_name: '  Zoë 🦊 "O\'Brien" <b> ',
    memo: '🦊'.repeat(128),
  };
  const created = await calls.create({ currency: 'USDT', description: '', items: [item] });
  expect(created.json.description).toBe('');
  const [kept] = await calls.items(String(created.json.batch_id));
  expect(kept).toMatchObject({ real_name: item.real_name, memo: item.memo });
  const long = await calls.create({ currency: 'USDT', items: [{ ...item, memo: '🦊'.repeat(129) }] });
  expect(verdict(long)).toBe('400 invalid_request');
});

test('findings make items invalid without refusing the request: counts and sums are of valid items', async () => {
  const items = [
    ...bodyOf(['10', '20']).items,
    bad(),
    { network: 'spl', address: TO.spl.succeed, amount: '4' },
  ];
  const { json } = await calls.create({ currency: 'USDT', items });
  const batch = json as unknown as PayoutBatch;
  expect(batch).toMatchObject({
    status: 'draft',
    network: 'erc20',
    total_count: 4,
    valid_count: 2,
    invalid_count: 2,
    total_amount: '30.00',
    service_fee_amount: '2.03',
    debit_amount: '32.03',
    can_submit: false,
  });
  expect(batch.validation_errors).toEqual([
    { field: 'items[2].address', code: 'address_invalid', message: expect.any(String) },
    { field: 'items[3].network', code: 'network_mismatch', message: expect.any(String) },
  ]);
  const listed = await calls.items(batch.batch_id);
  expect(listed.map((item) => item.status)).toEqual(['valid', 'valid', 'invalid', 'invalid']);
  expect(listed.flatMap((item) => item.validation_errors)).toEqual(batch.validation_errors);
});

test('a submit with findings commits them: needs_fix, mended items, submitted again', async () => {
  const items = [...bodyOf(['10']).items, bad(), bad()];
  const batchId = String((await calls.create({ currency: 'USDT', items })).json.batch_id);
  expect(verdict(await calls.submit(batchId))).toBe('400 batch_cannot_submit');
  expect(await calls.read(batchId)).toMatchObject({
    status: 'needs_fix',
    can_submit: false,
    submitted_at: null,
    frozen_amount: '0.00',
  });

  const [, second, third] = await calls.items(batchId);
  const mended = await put(batchId, second?.item_id, { ...bodyOf(['7']).items[0], memo: 'm' });
  expect(mended.json).toMatchObject({ item_id: second?.item_id, index: 1, amount: '7.00', status: 'valid' });
  expect(await calls.read(batchId)).toMatchObject({ status: 'needs_fix', can_submit: false, valid_count: 2 });

  const left = await drop(batchId, third?.item_id);
  expect(left.json).toMatchObject({
    total_count: 2,
    valid_count: 2,
    can_submit: true,
    total_amount: '17.00',
  });
  expect(left.json).toEqual(await calls.read(batchId));
  expect(verdict(await calls.submit(batchId))).toBe('200 pending');
  expect(verdict(await drop(batchId, second?.item_id))).toBe('400 invalid_request');
});

test('an index never changes, and neither does the network of the batch', async () => {
  const { batch_id } = await draft(calls, ['1', '2', '3']);
  const [first, second, third] = await calls.items(batch_id);
  await drop(batch_id, first?.item_id);
  expect((await calls.items(batch_id)).map(({ index, amount }) => [index, amount])).toEqual([
    [1, '2.00'],
    [2, '3.00'],
  ]);
  expect(verdict(await drop(batch_id, first?.item_id))).toBe('404 resource_not_found');

  const other = { network: 'spl', address: TO.spl.succeed, amount: '5' };
  const moved = await put(batch_id, third?.item_id, other);
  expect(moved.json).toMatchObject({ index: 2, status: 'invalid', network: 'spl' });
  expect(moved.json.validation_errors).toMatchObject([
    { field: 'items[2].network', code: 'network_mismatch' },
  ]);
  await drop(batch_id, second?.item_id);
  expect(await calls.read(batch_id)).toMatchObject({
    network: 'erc20',
    valid_count: 0,
    total_amount: '0.00',
  });
});

test('a replacement replaces the whole item: omitted fields are gone', async () => {
  const item = { ...bodyOf(['1']).items[0], real_name: 'Ann', memo: 'rent' };
  const created = await calls.create({ currency: 'USDT', items: [item] });
  const batchId = String(created.json.batch_id);
  const [before] = await calls.items(batchId);
  const after = await put(batchId, before?.item_id, bodyOf(['2']).items[0] ?? {});
  expect(after.json).toEqual({
    ...before,
    real_name: null,
    memo: null,
    amount: '2.00',
    service_fee_amount: '1.01',
  });
});

test('fees are those quoted when the item was made or edited, whatever the settings say at submit', async () => {
  const batch = await draft(calls, ['100', '100']);
  expect(batch.service_fee_amount).toBe('2.20');
  await configure(service, merchant, { feeErc20: '9.00', feeBasisPoints: 100 });
  const [, second] = await calls.items(batch.batch_id);
  await put(batch.batch_id, second?.item_id, bodyOf(['100']).items[0] ?? {});
  expect((await calls.read(batch.batch_id)).service_fee_amount).toBe('11.10');
  await configure(service, merchant, { feeErc20: '500.00' });
  const before = await available();
  const submitted = await calls.submit(batch.batch_id);
  expect(submitted.json).toMatchObject({
    total_amount: '200.00',
    service_fee_amount: '11.10',
    debit_amount: '211.10',
    frozen_amount: '211.10',
  });
  const after = await available();
  expect(Number(before.available) - Number(after.available)).toBe(211_100_000);
  expect(after).toMatchObject({ payout_hold: 211_100_000, custody_hold: { erc20: 200_000_000 } });
});

test('a submitted batch: reserved, no longer editable, its numbers kept', async () => {
  const created = await draft(calls, ['10', '20']);
  const { status, json } = await calls.submit(created.batch_id);
  expect(status).toBe(200);
  expect(json).toEqual({
    ...created,
    status: 'pending',
    can_submit: false,
    frozen_amount: created.debit_amount,
    submitted_at: expect.any(Number),
  });
  expect(await calls.read(created.batch_id)).toEqual(json);
  const items = await calls.items(created.batch_id);
  expect(items.map((item) => item.status)).toEqual(['queued', 'queued']);
  const [item] = items;
  expect(verdict(await put(created.batch_id, item?.item_id, bodyOf(['1']).items[0] ?? {}))).toBe(
    '400 invalid_request',
  );
  expect(await calls.items(created.batch_id)).toEqual(items);
});

test.each(['draft', 'needs_fix', 'pending', 'pending_approval'] as const)(
  'a batch in %s can be canceled once: all of it is released, and can_submit is gone',
  async (state) => {
    if (state === 'pending_approval') await configure(service, merchant, { approvalAbove: '1.00' });
    const before = await available();
    const items = [...bodyOf(['10']).items, ...(state === 'needs_fix' ? [bad()] : [])];
    const created = (await calls.create({ currency: 'USDT', items })).json as unknown as PayoutBatch;
    if (state !== 'draft') await calls.submit(created.batch_id);
    const last = await calls.read(created.batch_id);
    expect(last.status).toBe(state);

    const { json } = await calls.cancel(created.batch_id);
    const { can_submit, ...kept } = last;
    expect(can_submit).toBe(state === 'draft');
    expect(json).toEqual({ ...kept, status: 'canceled', frozen_amount: '0.00' });
    expect(await calls.read(created.batch_id)).toEqual(json);
    expect(await available()).toEqual(before);
    expect((await calls.items(created.batch_id)).every((item) => item.status === 'canceled')).toBe(true);
    expect(verdict(await calls.cancel(created.batch_id))).toBe('400 invalid_request');
    expect(verdict(await calls.submit(created.batch_id))).toBe('400 batch_cannot_submit');
    expect(await calls.read(created.batch_id)).toEqual(json);
  },
);

test('quota: canceled batches no longer count, other currencies and the next UTC day have their own', async () => {
  await configure(service, merchant, { dailyQuota: '100.00' });
  const submit = async (amount: string, currency: 'USDT' | 'USDC' = 'USDT') => {
    const { batch_id } = await draft(calls, [amount], { currency });
    return { batch_id, said: verdict(await calls.submit(batch_id)) };
  };
  const first = await submit('100');
  expect(first.said).toBe('200 pending');
  expect((await submit('0.01')).said).toBe('400 quota_blocked');
  expect((await submit('100', 'USDC')).said).toBe('200 pending');
  await calls.cancel(first.batch_id);
  expect((await submit('60')).said).toBe('200 pending');
  const blocked = await submit('40.01');
  expect(blocked.said).toBe('400 quota_blocked');
  expect((await submit('40')).said).toBe('200 pending');

  await asOwner(service, 'update merchant set clock_offset = clock_offset + 86400 where merchant_id = $1', [
    merchant.merchantId,
  ]);
  expect(verdict(await calls.submit(blocked.batch_id))).toBe('200 pending');
});

test('lists: newest first, page by page, filtered, with the query as it came', async () => {
  const made: string[] = [];
  for (let i = 0; i < 7; i++) {
    const currency = i % 2 === 0 ? 'USDT' : 'USDC';
    made.push((await draft(calls, ['1'], { currency })).batch_id);
  }
  made.reverse();
  await calls.cancel(String(made[0]));
  const ids = async (query: string) => {
    const { json } = await calls.call(`/payout-batches${query}`);
    expect(json).toMatchObject({ object: 'list', url: `/api/v1/payout-batches${query}` });
    return { ids: (json.data as PayoutBatch[]).map((batch) => batch.batch_id), more: json.has_more };
  };
  expect(await ids('')).toEqual({ ids: made, more: false });
  expect(await ids('?limit=7')).toEqual({ ids: made, more: false });
  expect(await ids('?limit=3')).toEqual({ ids: made.slice(0, 3), more: true });
  expect(await ids(`?limit=3&starting_after=${made[2]}`)).toEqual({ ids: made.slice(3, 6), more: true });
  expect(await ids(`?limit=3&starting_after=${made[5]}`)).toEqual({ ids: made.slice(6), more: false });
  expect(await ids(`?starting_after=${made[6]}`)).toEqual({ ids: [], more: false });
  const usdc = made.filter((_, i) => i % 2 === 1);
  expect(await ids('?currency=USDC')).toEqual({ ids: usdc, more: false });
  expect(await ids(`?currency=USDC&limit=1&starting_after=${made[2]}`)).toEqual({
    ids: [made[3]],
    more: true,
  });
  expect(await ids('?status=canceled')).toEqual({ ids: [made[0]], more: false });
  expect(await ids('?status=completed')).toEqual({ ids: [], more: false });
  expect(await ids('?idempotency_key=unused')).toEqual({ ids: [], more: false });
  const { json: middle } = await calls.call(`/payout-batches/${made[3]}`);
  const at = Number(middle.created_at);
  const parts = [
    `?created[gte]=${at + 1}`,
    `?created[gte]=${at}&created[lt]=${at + 1}`,
    `?created[lt]=${at}`,
  ];
  const [later, within, earlier] = await Promise.all(parts.map(async (query) => (await ids(query)).ids));
  expect([later, within, earlier].flat()).toEqual(made);
  expect(within).toContain(made[3]);
  expect(await ids(`?created[lt]=${at - 60}`)).toEqual({ ids: [], more: false });
  expect(verdict(await calls.call('/payout-batches?created[gte]=9&created[lt]=9'))).toBe(
    '400 invalid_request',
  );
  for (const cursor of ['x', encodeId('payoutBatch', newId()), encodeId('payoutItem', newId()), '%00']) {
    expect(verdict(await calls.call(`/payout-batches?starting_after=${cursor}`))).toBe('400 invalid_request');
  }
});

test('items: in the order of the batch, page by page, by status; the cursor of another batch is refused', async () => {
  const items = Array.from({ length: 25 }, (_, i) => (i % 5 === 4 ? bad() : bodyOf([`${i + 1}`]).items[0]));
  const batchId = String((await calls.create({ currency: 'USDT', items })).json.batch_id);
  const first = await calls.items(batchId, '');
  expect(first.map((item) => item.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const rest = await calls.items(batchId, `limit=100&starting_after=${first[9]?.item_id}`);
  expect(rest.map((item) => item.index)).toEqual(Array.from({ length: 15 }, (_, i) => i + 10));
  expect((await calls.items(batchId, 'status=invalid')).map((item) => item.index)).toEqual([
    4, 9, 14, 19, 24,
  ]);
  const other = await draft(calls, ['1']);
  const [foreign] = await calls.items(other.batch_id);
  const path = `/payout-batches/${batchId}/items?starting_after=${foreign?.item_id}`;
  expect(verdict(await calls.call(path))).toBe('400 invalid_request');
  const single = `/payout-batches/${batchId}/items/${foreign?.item_id}`;
  expect(verdict(await calls.call(single))).toBe('404 resource_not_found');
});

test('200 items at the maximum: the sums are exact', async () => {
  await configure(service, merchant, {
    max: '1000000000.00',
    dailyQuota: '1000000000.00',
    approvalAbove: '1000000000.00',
  });
  const amounts = Array.from(
    { length: 200 },
    (_, i) => `${4_999_900 + i}.${String(i % 100).padStart(2, '0')}`,
  );
  const batch = await draft(calls, amounts);
  const sum = amounts.reduce((total, amount) => total + parseNonNegativeAmount(amount), 0n);
  expect(parseNonNegativeAmount(batch.total_amount)).toBe(sum);
  const items = [...(await calls.items(batch.batch_id))];
  items.push(...(await calls.items(batch.batch_id, `limit=100&starting_after=${items[99]?.item_id}`)));
  const fees = items.reduce((total, item) => total + parseNonNegativeAmount(item.service_fee_amount), 0n);
  expect(parseNonNegativeAmount(batch.service_fee_amount)).toBe(fees);
  expect(parseNonNegativeAmount(batch.debit_amount)).toBe(sum + fees);
  expect(verdict(await calls.submit(batch.batch_id))).toBe('400 insufficient_balance');
  expect(await calls.read(batch.batch_id)).toEqual(batch);
});

test('an approval threshold compares the sum of all items, and its own cent does not exceed it', async () => {
  await configure(service, merchant, { approvalAbove: '30.00' });
  const at = await draft(calls, ['10', '20']);
  expect(verdict(await calls.submit(at.batch_id))).toBe('200 pending');
  const above = await draft(calls, ['10', '20.01']);
  expect(verdict(await calls.submit(above.batch_id))).toBe('200 pending_approval');
});
