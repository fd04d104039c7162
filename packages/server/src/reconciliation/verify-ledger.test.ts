import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { asOwner, expectLedgerWhole } from '../../../../test/ledger.ts';
import { startService, type TestMerchant, type TestService } from '../../../../test/service.ts';
import { testAddresses } from '../chains/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { verifyLedger } from './verify-ledger.ts';

let service: TestService;
/** One batch submitted, one paid in part: every kind of row is there. */
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 100_000_000n });
  const worker = await service.startWorker();
  const paid = await submit(merchant, ['succeed', 'fail', 'succeed']);
  const chain = service.app.chains.sandbox(merchant.merchantId, 'erc20');
  const isOver = async () => {
    await chain.mine(1);
    return (await merchant.sdk.payouts.retrieve(paid)).status === 'partially_completed';
  };
  await vi.waitUntil(isOver, { timeout: 20_000, interval: 200 });
  await worker.stop(5_000);
  await submit(merchant, ['succeed']);
});
afterAll(() => service.stop());
afterEach(() => expectLedgerWhole(service));

async function submit(of: TestMerchant, to: ('succeed' | 'fail' | 'stuck')[]): Promise<string> {
  const items = to.map((kind) => ({
    network: 'erc20' as const,
    address: testAddresses('erc20')[kind],
    amount: '1.50',
  }));
  const { batch_id } = await of.sdk.payouts.create({ currency: 'USDT', items });
  await of.sdk.payouts.submit(batch_id);
  return batch_id;
}

const verify = () => verifyLedger(service.app, () => {});

/** Changes rows of a table while `look` runs, and puts them back. */
async function tampered<T>(table: string, change: string, look: () => Promise<T>): Promise<T> {
  const kept = await asOwner<{ rows: string }>(
    service,
    `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from ${table} t where merchant_id = $1`,
    [merchant.merchantId],
  );
  await asOwner(service, change, [merchant.merchantId]);
  try {
    return await look();
  } finally {
    await asOwner(service, `delete from ${table} where merchant_id = $1`, [merchant.merchantId]);
    await asOwner(
      service,
      `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`,
      [kept[0]?.rows],
    );
  }
}

test('an intact ledger has no differences, and the report counts the checks', async () => {
  const seen: [number, number][] = [];
  const report = await verifyLedger(service.app, (done, total) => seen.push([done, total]));
  expect(report).toMatchObject({ differences: [], unseen: [] });
  expect(report.checks).toBeGreaterThan(10);
  expect(seen.at(-1)).toEqual([report.merchants, report.merchants]);
});

const ONE_ENTRY = `(select entry_id from ledger_entry where merchant_id = $1 order by entry_id limit 1)`;
const TAMPERING: [what: string, table: string, change: string, found: RegExp][] = [
  [
    'a balance',
    'ledger_account',
    `update ledger_account set balance = balance + 1 where merchant_id = $1 and account = 'available' and currency = 'USDC'`,
    /available: sum of its entries/,
  ],
  [
    'two balances that still agree with each other',
    'ledger_account',
    `update ledger_account set balance = balance + 1
     where merchant_id = $1 and account in ('available', 'custody:spl') and currency = 'USDC'`,
    /sum of its entries/,
  ],
  [
    'a missing balance',
    'ledger_account',
    `delete from ledger_account where merchant_id = $1 and account = 'fees'`,
    /fees: sum/,
  ],
  [
    'an entry’s amount',
    'ledger_entry',
    `update ledger_entry set amount = amount + 1 where merchant_id = $1 and entry_id = ${ONE_ENTRY}`,
    /sum of its entries/,
  ],
  [
    'an entry’s account',
    'ledger_entry',
    `update ledger_entry set credit = 'held' where merchant_id = $1 and entry_id = ${ONE_ENTRY}`,
    /sum of its entries/,
  ],
  [
    'a missing entry',
    'ledger_entry',
    `delete from ledger_entry where merchant_id = $1 and entry_id = ${ONE_ENTRY}`,
    /sum of its/,
  ],
  [
    'an entry of another currency',
    'ledger_entry',
    `update ledger_entry set currency = 'USDC' where merchant_id = $1 and currency = 'USDT'
       and entry_id = (select max(entry_id::text)::uuid from ledger_entry where merchant_id = $1 and currency = 'USDT')`,
    /sum of its entries/,
  ],
  [
    'an invented entry',
    'ledger_entry',
    `insert into ledger_entry select merchant_id, gen_random_uuid(), journal_id, debit, credit, currency, network, amount,
       cause_type, cause_id, created_at from ledger_entry where merchant_id = $1 and entry_id = ${ONE_ENTRY}`,
    /sum of its entries/,
  ],
  [
    'a batch’s frozen amount',
    'payout_batch',
    `update payout_batch set frozen_amount = frozen_amount + 10000 where merchant_id = $1 and status = 'pending'`,
    /payout_hold: frozen by batches/,
  ],
  [
    'a missing batch',
    'payout_batch',
    `delete from payout_batch where merchant_id = $1 and status = 'pending'`,
    /payout_hold: frozen by batches/,
  ],
  [
    'coins on a chain',
    'simchain.account',
    `update simchain.account set balance = balance - 1 where merchant_id = $1 and network = 'trc20' and balance > 0`,
    /custody on trc20: balance of/,
  ],
  [
    'a transfer that was paid and is denied',
    'transfer',
    `update transfer set status = 'failed', failure_code = 'transfer_failed'
     where merchant_id = $1 and status = 'succeeded'`,
    /custody on erc20: balance of/,
  ],
];

test.each(TAMPERING)(
  'H1, fault 83: %s that somebody changed is found',
  async (_what, table, change, found) => {
    const { differences } = await tampered(table, change, verify);
    expect(differences.map((one) => one.what)).toEqual(
      expect.arrayContaining([expect.stringMatching(found)]),
    );
    for (const one of differences) {
      expect(one.merchant_id).toBe(encodeId('merchant', merchant.merchantId));
      expect(one.expected).not.toBe(one.found);
    }
  },
);

test('H1: the service itself has no right to change or remove an entry', async () => {
  const own = service.app.db;
  const where = ['merchant_id', '=', merchant.merchantId] as const;
  const refused = { code: '42501' };
  await expect(
    own
      .updateTable('ledger_entry')
      .set({ amount: 1n })
      .where(...where)
      .execute(),
  ).rejects.toMatchObject(refused);
  await expect(
    own
      .deleteFrom('ledger_entry')
      .where(...where)
      .execute(),
  ).rejects.toMatchObject(refused);
});

test('a merchant without a chain and without money is no difference; with money it is reported as unseen', async () => {
  const live = await service.createMerchant({ mode: 'live' });
  expect((await verify()).unseen).toEqual([]);
  await asOwner(
    service,
    `insert into ledger_account values ($1, 'custody:spl', 'USDC', 5, 0), ($1, 'available', 'USDC', 5, 0)`,
    [live.merchantId],
  );
  const { unseen } = await verify();
  expect(unseen).toEqual([expect.stringContaining(encodeId('merchant', live.merchantId))]);
  expect(unseen[0]).toContain('spl');
  await asOwner(service, 'delete from ledger_account where merchant_id = $1', [live.merchantId]);
});

test('H1: while payouts are under way the ledger is verified repeatedly, and nothing is reported', async () => {
  const busy = await service.createMerchant();
  const worker = await service.startWorker();
  const batches = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      submit(busy, i % 2 === 0 ? ['succeed', 'fail', 'succeed'] : ['succeed']),
    ),
  );
  const open = async () => {
    const states = await Promise.all(batches.map(async (id) => (await busy.sdk.payouts.retrieve(id)).status));
    return states.filter((status) => status === 'pending' || status === 'processing').length;
  };
  let looks = 0;
  for (const end = Date.now() + 70_000; (await open()) > 0 && Date.now() < end; looks++) {
    expect((await verify()).differences).toEqual([]);
  }
  expect(await open()).toBe(0);
  expect(looks).toBeGreaterThan(1);
  await worker.stop(5_000);
}, 120_000);
