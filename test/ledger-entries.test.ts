import type { LedgerEntry } from '@florin/contract/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { riskCommands, settingCommands } from '../packages/server/src/operator/settings.ts';
import { newId } from '../packages/server/src/platform/db/ids/ids.ts';
import { Fail } from '../packages/server/src/platform/fail.ts';
import { encodeId } from '../packages/server/src/tenancy/resource-ids.ts';
import { asOwner, expectLedgerWhole } from './ledger.ts';
import { type Calls, caller, configure, draft, TO } from './payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';

let service: TestService;
let merchant: TestMerchant;
let calls: Calls;
/** Paid in part: a succeeded and a failed item. */
let paid: string;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
  calls = caller(service, merchant);
  await merchant.sdk.testHelpers.fund({ currency: 'USDT', network: 'spl', amount: '100' });
  await merchant.sdk.testHelpers.fund({ currency: 'USDC', network: 'trc20', amount: '0.000001' });
  const items = (['succeed', 'fail'] as const).map((to) => ({
    network: 'spl' as const,
    address: TO.spl[to],
    amount: '10',
  }));
  paid = String((await calls.create({ currency: 'USDT', items })).json.batch_id);
  await calls.submit(paid);
});
afterAll(() => service.stop());

async function entries(query = ''): Promise<LedgerEntry[]> {
  const { status, json, text } = await calls.call(`/ledger_entries?limit=100${query}`);
  expect(status, text).toBe(200);
  return json.data as LedgerEntry[];
}
const flows = (list: LedgerEntry[]) => list.map((one) => `${one.debit} ← ${one.credit} ${one.amount}`).sort();

test('every change of a payout is an entry with its cause, and the balances are their sums', async () => {
  const chain = service.app.chains.sandbox(merchant.merchantId, 'spl');
  const status = async () => {
    await chain.mine(1);
    return (await calls.read(paid)).status;
  };
  await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe('partially_completed');
  const [succeeded, failed] = await calls.items(paid);
  expect(flows(await entries(`&cause=${paid}`))).toEqual([
    'available ← payout_hold 20220000',
    'custody_hold:spl ← custody:spl 20000000',
  ]);
  expect(flows(await entries(`&cause=${succeeded?.item_id}`))).toEqual([
    'payout_hold ← custody_hold:spl 10000000',
    'payout_hold ← fees 110000',
  ]);
  expect(flows(await entries(`&cause=${failed?.item_id}`))).toEqual([
    'custody:spl ← custody_hold:spl 10000000',
    'payout_hold ← available 10110000',
  ]);
  const { data } = await merchant.sdk.balances.retrieve();
  expect(data).toEqual([
    {
      currency: 'USDT',
      available: 89_890_000,
      held: 0,
      payout_hold: 0,
      refund_hold: 0,
      seized: 0,
      fees: 110_000,
      network_cost: 0,
      custody: { erc20: 0, trc20: 0, spl: 90_000_000 },
      custody_hold: { erc20: 0, trc20: 0, spl: 0 },
    },
    expect.objectContaining({ currency: 'USDC', available: 1, custody: { erc20: 0, trc20: 1, spl: 0 } }),
  ]);
  await expectLedgerWhole(service);
});

test('a coin that the chain lacks is found, though the books were found whole a moment ago', async () => {
  await expectLedgerWhole(service);
  const move = (by: number) =>
    asOwner(
      service,
      `update simchain.account set balance = balance + $2
        where merchant_id = $1 and network = 'spl' and currency = 'USDT' and balance >= 90000000`,
      [merchant.merchantId, by],
    );
  await move(-1);
  await expect(expectLedgerWhole(service)).rejects.toThrow('differences');
  await move(1);
  await expectLedgerWhole(service);
});

test('what a canceled batch reserved goes back by entries of its own; nothing is taken away', async () => {
  await configure(service, merchant, { approvalAbove: '1.00' });
  const { batch_id } = await draft(calls, ['5'], { network: 'spl' });
  await calls.submit(batch_id);
  await calls.cancel(batch_id);
  expect(flows(await entries(`&cause=${batch_id}`))).toEqual([
    'available ← payout_hold 5110000',
    'custody:spl ← custody_hold:spl 5000000',
    'custody_hold:spl ← custody:spl 5000000',
    'payout_hold ← available 5110000',
  ]);
});

test('entries: newest first, page by page, by currency, account and cause', async () => {
  const all = await entries();
  const { status, json } = await calls.call('/ledger_entries?limit=2');
  expect([status, (json.data as LedgerEntry[]).length, json.has_more]).toEqual([200, 2, true]);
  const paged: string[] = [];
  for await (const entry of merchant.sdk.ledgerEntries.list({ limit: 3 })) paged.push(entry.id);
  expect(paged.slice(0, all.length)).toEqual(all.map((one) => one.id));
  expect(all.map((one) => one.created)).toEqual(all.map((one) => one.created).sort((a, b) => b - a));
  expect((await entries('&currency=USDC')).map((one) => one.amount)).toEqual([1]);
  for (const one of await entries('&account=payout_hold')) {
    expect([one.debit, one.credit]).toContain('payout_hold');
  }
  const [first] = all;
  expect(first).toEqual({
    id: expect.stringMatching(/^le_/),
    object: 'ledger_entry',
    journal_id: expect.any(String),
    debit: expect.any(String),
    credit: expect.any(String),
    currency: 'USDT',
    network: 'spl',
    amount: expect.any(Number),
    cause: { type: expect.any(String), id: expect.any(String) },
    created: expect.any(Number),
  });
});

test('what no entry has finds nothing or is refused; another merchant sees none of these', async () => {
  expect(await entries(`&cause=${encodeId('payoutBatch', newId())}`)).toEqual([]);
  expect(await entries('&cause=pb_x')).toEqual([]);
  expect(await entries('&account=kept:erc20')).toEqual([]);
  for (const query of [
    'account=cash',
    'account=',
    'currency=usdt',
    'starting_after=le_x',
    `starting_after=${paid}`,
  ]) {
    const { status, json } = await calls.call(`/ledger_entries?${query}`);
    expect([query, status, (json.error as { param?: string }).param]).toEqual([
      query,
      400,
      query.split('=')[0],
    ]);
  }
  const stranger = await service.createMerchant({ funds: 0n });
  const theirs = caller(service, stranger);
  expect((await theirs.call(`/ledger_entries?cause=${paid}`)).json.data).toEqual([]);
  const [mine] = await entries();
  expect((await theirs.call(`/ledger_entries?starting_after=${mine?.id}`)).status).toBe(400);
});

async function refusal(run: Promise<unknown>): Promise<string> {
  const error = await run.catch((caught: unknown) => caught);
  return error instanceof Fail ? `${error.code} ${error.details.param ?? ''}`.trim() : 'done';
}

test('the operator’s settings: of all merchants, of one, and back to the default', async () => {
  const settings = settingCommands(service.app);
  const id = encodeId('merchant', merchant.merchantId);
  const name = 'payouts.batch_maximum';
  const value = async (of?: string) => (await settings.get(name, of)).value;
  const defaults = { live: '10000.00', sandbox: '1000000.00' };
  expect([await value(), await value(id)]).toEqual([defaults, '1000000.00']);
  await settings.set(name, '500');
  await settings.set(name, '7.5', id);
  expect([await value(), await value(id)]).toEqual(['500.00', '7.50']);
  await settings.unset(name, id);
  expect(await value(id)).toBe('500.00');
  await settings.unset(name);
  expect(await value(id)).toBe('1000000.00');
  expect((await settings.list(id)).map((one) => one.name)).toContain('transfers.paused');
  expect(await refusal(settings.get('payouts.nothing'))).toBe('invalid_request name');
  expect(await refusal(settings.set(name, '1.001'))).toBe(`invalid_request ${name}`);
  expect(await refusal(settings.get(name, 'mer_x'))).toBe('resource_not_found');
});

test('the operator’s risk list takes addresses of a network in any spelling, once each', async () => {
  const risk = riskCommands(service.app);
  const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const added = await risk.add('erc20', mixed.toLowerCase(), 'first');
  await risk.add('erc20', mixed, 'second');
  const listed = (await risk.list()).filter((one) => one.address === added.address);
  expect(listed).toEqual([{ network: 'erc20', address: added.address, reason: 'second' }]);
  const refused = [risk.add('eth', mixed, 'x'), risk.add('trc20', mixed, 'x'), risk.add('spl', '', 'x')];
  expect(await Promise.all(refused.map(refusal))).toEqual([
    'invalid_request network',
    'invalid_request address',
    'invalid_request address',
  ]);
  await risk.remove('erc20', mixed);
  expect(await refusal(risk.remove('erc20', mixed))).toBe('resource_not_found');
});
