import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { connect, type Db } from '../../packages/server/src/platform/db/db.ts';
import { type BooksReport, compareBooks } from '../../packages/server/src/reconciliation/verify-books.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { TOKEN } from '../checkout/requests.ts';
import { auditOnce } from '../custody/audits.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { billing, item } from '../subscriptions/billing.ts';

// A merchant of whom every comparison has something to compare; then each is broken, found and rolled back.

let service: TestService;
let merchant: TestMerchant;
let owner: Db;
let names: Awaited<ReturnType<typeof makeHistory>>;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  owner = connect({ url: service.app.databaseUrl, poolSize: 1 });
  names = await makeHistory();
}, 240_000);
afterAll(async () => {
  await owner.destroy();
  await service.stop();
});

async function makeHistory() {
  const api = billing(service, merchant);
  const payouts = await payOut();
  const paid = await api.open();
  await api.pay(paid.id, { network: 'erc20' });
  await refund('paid', paid.payment_id);
  const short = await api.open();
  await api.pay(short.id, { network: 'erc20', amount: 40 * TOKEN });
  await api.cancelSession(short.id);
  const { id: wrong } = await api.open({ payment_options: [{ currency: 'USDT', network: 'erc20' }] });
  await api.pay(wrong, { network: 'erc20', currency: 'USDC', amount: 7 * TOKEN });
  const frozen = await api.open();
  await api.pay(frozen.id, { network: 'erc20', from: 'sanctioned' });
  const { id: subscription } = await api.make();
  await api.authorize(subscription, {});
  await api.update(subscription, { items: [item(500)] });
  const invoice = await api.latest(subscription);
  const lost = await api.open();
  await api.pay(lost.id, { network: 'trc20' });
  await service.app.chains.sandbox(merchant.merchantId, 'trc20').reorg(12);
  await auditOnce(service, merchant.merchantId, 'trc20');
  return {
    ...payouts,
    paid: paid.payment_id,
    short: short.payment_id,
    frozen: frozen.payment_id,
    lost: lost.payment_id,
    subscription,
    invoice: invoice.id,
  };
}

/** A batch that is paid in part. */
async function payOut() {
  const { succeed, fail } = testAddresses('spl');
  const items = [succeed, fail].map((address) => ({ network: 'spl' as const, address, amount: '150.00' }));
  const { batch_id: batch } = await merchant.sdk.payouts.create({ currency: 'USDT', items });
  await merchant.sdk.payouts.submit(batch);
  const isOver = async () => (await merchant.sdk.payouts.retrieve(batch)).completed_at !== null;
  await vi.waitUntil(isOver, { timeout: 60_000, interval: 300 });
  const ids: string[] = [];
  for await (const one of merchant.sdk.payouts.items(batch)) ids.push(one.item_id);
  const [succeeded, failed] = ids;
  return { batch, succeeded, failed };
}

async function refund(id: string, payment: string): Promise<void> {
  await merchant.sdk.refunds.create({
    refund_id: id,
    payment_id: payment,
    amount: BigInt(10 * TOKEN),
    currency: 'USDT',
    address: testAddresses('erc20').succeed,
  });
  const isOver = async () => (await merchant.sdk.refunds.retrieve(id)).status === 'succeeded';
  await vi.waitUntil(isOver, { timeout: 60_000, interval: 300 });
}

class TakenBack extends Error {}

/** What is found once a statement of the owner has changed the books; nothing of it stays. */
async function after(change: string): Promise<BooksReport> {
  let report: BooksReport | undefined;
  const planted = owner.transaction().execute(async (tx) => {
    await sql.raw(change.replaceAll('$merchant', `'${merchant.merchantId}'`)).execute(tx);
    report = await compareBooks(tx, merchant.merchantId);
    throw new TakenBack();
  });
  await expect(planted).rejects.toThrow(TakenBack);
  if (report === undefined) throw new Error('nothing was compared');
  return report;
}

const uuid = (kind: Parameters<typeof decodeId>[0], name: keyof typeof names) =>
  `'${decodeId(kind, String(names[name]))}'`;
const set = (table: string, change: string, where: string) =>
  `update ${table} set ${change} where merchant_id = $merchant and ${where}`;

interface Planted {
  /** What was done to the books. */
  called: string;
  change: () => string;
  /** The resource that is named, as its merchant knows it; empty: an account, or any. */
  named: () => string;
  what: string;
  /** Found beyond what was expected, in the smallest unit. */
  off: bigint;
}

const HUNDRED = 100n * BigInt(TOKEN);
const TEN = 10n * BigInt(TOKEN);

const PLANTED: readonly Planted[] = [
  {
    called: 'fees that no item was charged',
    change: () => set('ledger_account', 'balance = balance + 1', `account = 'fees' and currency = 'USDT'`),
    named: () => '',
    what: 'fees: charged by payout items that succeeded',
    off: 1n,
  },
  {
    called: 'a seizure that is none',
    change: () => set('payment_transaction', `decision = 'kept'`, `kind = 'seized'`),
    named: () => '',
    what: 'seized: seized transfers that nobody has decided',
    off: HUNDRED,
  },
  {
    called: 'coins set aside for nothing',
    change: () => set('ledger_account', 'balance = balance + 5', `account = 'custody_hold:spl'`),
    named: () => '',
    what: 'custody_hold:spl: set aside by payouts, refunds and seizures',
    off: 5n,
  },
  {
    called: 'held money that no payment knows',
    change: () =>
      set('payment', `status = 'completed', completed_at = 1, held_amount = 0`, `status = 'cancelled'`),
    named: () => '',
    what: 'held: undecided of payments',
    off: 40n * BigInt(TOKEN),
  },
  {
    called: 'a received sum beyond its transactions',
    change: () =>
      set('payment', 'received_amount = received_amount + 3', `payment_id = ${uuid('payment', 'paid')}`),
    named: () => `payment ${names.paid}`,
    what: 'received, by its transactions',
    off: 3n,
  },
  {
    called: 'a refunded sum beyond its refunds',
    change: () =>
      set('payment', 'refunded_amount = refunded_amount - 1', `payment_id = ${uuid('payment', 'paid')}`),
    named: () => `payment ${names.paid}`,
    what: 'refunded, by its refunds',
    off: -1n,
  },
  {
    called: 'an item that was paid and is called failed',
    change: () => set('payout_item', `status = 'failed'`, `item_id = ${uuid('payoutItem', 'succeeded')}`),
    named: () => `payout item ${names.succeeded}`,
    what: 'paid by its transfer',
    off: 150n * BigInt(TOKEN),
  },
  {
    called: 'an item that was paid by another transaction',
    change: () => set('payout_item', `tx_id = 'another'`, `item_id = ${uuid('payoutItem', 'succeeded')}`),
    named: () => `payout item ${names.succeeded}`,
    what: 'paid by its transfer',
    off: -150n * BigInt(TOKEN),
  },
  {
    called: 'a failed item that was not given back',
    change: () =>
      `delete from ledger_entry where merchant_id = $merchant and cause_id = ${uuid('payoutItem', 'failed')}
       and credit like 'custody_hold:%'`,
    named: () => `payout item ${names.failed}`,
    what: 'coins given back, by its entries',
    off: -150n * BigInt(TOKEN),
  },
  {
    called: 'a transfer that nobody ordered',
    change: () =>
      `insert into transfer select (jsonb_populate_record(t, jsonb_build_object('transfer_id', gen_random_uuid(),
         'owner_id', ${uuid('payoutBatch', 'batch')}, 'place', 99))).*
       from transfer t where merchant_id = $merchant and owner_id = ${uuid('payoutItem', 'succeeded')}`,
    named: () => `payout item ${names.batch?.replace('pb_', 'pbi_')}`,
    what: 'paid by its transfer',
    off: 150n * BigInt(TOKEN),
  },
  {
    called: 'a batch that charged another fee',
    change: () => set('payout_batch', 'charged_service_fee_amount = charged_service_fee_amount + 7', 'true'),
    named: () => `payout batch ${names.batch}`,
    what: 'service fees charged, by its items',
    off: 7n,
  },
  {
    called: 'a refund of another sum than its transfer',
    change: () => set('refund', 'amount = amount + 1', `own_id = 'paid'`),
    named: () => 'refund paid',
    what: 'amount of its transfer',
    off: -1n,
  },
  {
    called: 'a refund that was paid and whose entries are missing',
    change: () =>
      `delete from ledger_entry where merchant_id = $merchant and cause_type = 'refund' and debit = 'refund_hold'`,
    named: () => 'refund paid',
    what: 'paid, by its entries',
    off: -TEN,
  },
  {
    called: 'an invoice that is paid by nothing',
    change: () => set('payment', 'invoice_id = null', `invoice_id = ${uuid('invoice', 'invoice')}`),
    named: () => `invoice ${names.invoice}`,
    what: 'paid, by its completed payment',
    off: -2_000n,
  },
  {
    called: 'a void invoice that was paid',
    change: () =>
      set(
        'invoice',
        `status = 'void', payment_status = 'canceled', paid_at = null, credited_amount = 0`,
        `invoice_id = ${uuid('invoice', 'invoice')}`,
      ),
    named: () => `invoice ${names.invoice}`,
    what: 'paid, by its completed payment',
    off: 2_000n,
  },
  {
    called: 'a payment that is completed without money',
    change: () => set('payment_transaction', `kind = 'unlisted'`, `payment_id = ${uuid('payment', 'paid')}`),
    named: () => `payment ${names.paid}`,
    what: 'money that completed it',
    off: -HUNDRED,
  },
  {
    called: 'credit beyond what its invoices gave',
    change: () => set('subscription', 'credit_amount = credit_amount + 1', 'true'),
    named: () => `subscription ${names.subscription}`,
    what: 'credit, by its invoices',
    off: 1n,
  },
  {
    called: 'a deposit that is lost, and no loss',
    change: () => set('payment_transaction', 'lost_at = 1', `payment_id = ${uuid('payment', 'paid')}`),
    named: () => '',
    what: 'reorg_loss:erc20: lost_at of transactions, and what was paid against the books',
    off: -HUNDRED,
  },
  {
    called: 'a loss, and no deposit that is lost',
    change: () => set('payment_transaction', 'lost_at = null', 'lost_at is not null'),
    named: () => `payment ${names.lost}`,
    what: 'lost to a reorganisation, by its entries',
    off: HUNDRED,
  },
  {
    called: 'a charge that its transfer denies',
    change: () =>
      set('transfer', `status = 'failed', failure_code = 'transfer_failed'`, `owner_type = 'charge'`),
    named: () => '',
    what: 'paid by its transfer',
    off: -20n * BigInt(TOKEN),
  },
];

test('H1: a history of every kind of money agrees with itself', async () => {
  await expectLedgerWhole(service);
  expect(await after('select 1')).toMatchObject({ deviations: [], omitted: 0 });
});

test.each(PLANTED)('H1, fault 83: $called is named', async ({ change, named, what, off }) => {
  const { deviations } = await after(change());
  const resource = named();
  const found = deviations.filter(
    (one) => one.what.endsWith(what) && (one.resource ?? '').includes(resource),
  );
  expect(
    found,
    JSON.stringify(deviations, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
  ).toHaveLength(1);
  expect((found[0]?.found ?? 0n) - (found[0]?.expected ?? 0n)).toBe(off);
});

test('of a thousand differences all are counted and a hundred reported', async () => {
  const { deviations, omitted } = await after(
    `insert into ledger_entry select merchant_id, gen_random_uuid(), journal_id, debit, credit, currency, network, amount,
       cause_type, gen_random_uuid(), created_at
     from ledger_entry, generate_series(1, 1000)
     where merchant_id = $merchant and cause_id = ${uuid('payoutItem', 'succeeded')} and credit like 'custody_hold:%'`,
  );
  const ofItems = deviations.filter((one) => one.resource?.startsWith('payout item '));
  expect([ofItems.length, omitted]).toEqual([100, 900]);
});
