import type { Network } from '@florin/contract/money';
import { type Selectable, sql, type Updateable } from 'kysely';
import type { Db, Tables, Tx } from '../../platform/db/index.ts';
import { listed, prepared, updateRows } from '../../platform/db/statements/index.ts';
import { Fail, invariant } from '../../platform/fail.ts';
import { listCursors } from '../deposits/deposit-queries.ts';
import { PAYMENT_MOVES, TRANSACTION_MOVES } from '../states.ts';
import { PAYMENT, PAYMENT_OPTION } from './columns.ts';
import '../tables.ts';

const paymentNotFound = () => new Fail('resource_not_found', 'There is no such payment.');

const selectPayment = (db: Db, merchantId: string, paymentId: string) =>
  db
    .selectFrom('payment')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_id', '=', paymentId);

export type PaymentRow = NonNullable<
  Awaited<ReturnType<ReturnType<typeof selectPayment>['executeTakeFirst']>>
>;
export type OptionRow = Selectable<Tables['payment_option']>;
export type TransactionRow = Awaited<ReturnType<typeof listTransactions>>[number];

/** Column values of a new payment. */
export const UNPAID = {
  chosen_currency: null,
  chosen_network: null,
  received_amount: 0n,
  refunded_amount: 0n,
  refunding_amount: 0n,
  held_amount: 0n,
  canceled_at: null,
  closed_at: null,
  completed_at: null,
  earlier_amounts: [],
  exceptions: [],
  payer_email: null,
  payer_language: null,
} satisfies Partial<PaymentRow>;

/** Unique per merchant. */
export const transactionKey = (t: Pick<TransactionRow, 'network' | 'tx_id' | 'index'>) =>
  `${t.network}/${t.tx_id}/${t.index}`;

/** A payment with its options and transactions: everything that `GET /payments/:id` shows. */
export interface PaymentView {
  payment: PaymentRow;
  options: readonly OptionRow[];
  transactions: readonly TransactionRow[];
  /** The newest scanned block of each network. */
  heights: ReadonlyMap<Network, bigint>;
}

/** Locks the payment's row and reads it with all its parts. Every change of a payment begins with this lock. */
export async function lockPayment(tx: Tx, merchantId: string, paymentId: string): Promise<PaymentView> {
  const payment = await selectPayment(tx, merchantId, paymentId).forUpdate().executeTakeFirst();
  if (payment === undefined) throw paymentNotFound();
  return await viewOf(tx, payment);
}

export async function readPayment(db: Db, merchantId: string, paymentId: string): Promise<PaymentView> {
  const payment = await selectPayment(db, merchantId, paymentId).executeTakeFirst();
  if (payment === undefined) throw paymentNotFound();
  return await viewOf(db, payment);
}

/** Locks several payments in one order, so that concurrent callers wait instead of deadlocking. */
export async function lockPayments(
  tx: Tx,
  merchantId: string,
  ids: readonly string[],
): Promise<PaymentView[]> {
  return await viewsOf(tx, await selectPayments(tx, merchantId, ids).forUpdate().execute());
}

export async function readPayments(
  db: Db,
  merchantId: string,
  ids: readonly string[],
): Promise<PaymentView[]> {
  return await viewsOf(db, await selectPayments(db, merchantId, ids).execute());
}

const oneOf = (ids: readonly string[]) => sql<string>`any(${ids}::uuid[])`;

const selectPayments = (db: Db, merchantId: string, ids: readonly string[]) =>
  db
    .selectFrom('payment')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_id', '=', oneOf(ids))
    .orderBy('payment_id');

async function viewOf(db: Db, payment: PaymentRow): Promise<PaymentView> {
  const [view] = await viewsOf(db, [payment]);
  if (view === undefined) throw paymentNotFound();
  return view;
}

/** Reads options, transactions and heights of payments of one merchant. */
export async function viewsOf(db: Db, payments: readonly PaymentRow[]): Promise<PaymentView[]> {
  const [first] = payments;
  if (first === undefined) return [];
  const merchantId = first.merchant_id;
  const ids = payments.map((payment) => payment.payment_id);
  const options = Map.groupBy((await optionsOf(merchantId, ids).execute(db)).rows, (row) => row.payment_id);
  const transactions = await listTransactions(db, merchantId, ids);
  const cursors = transactions.some((t) => t.status === 'seen') ? await listCursors(db, merchantId) : [];
  const heights = new Map(cursors.map((row) => [row.network, BigInt(row.height)]));
  const byPayment = Map.groupBy(transactions, (row) => row.payment_id);
  return payments.map((payment) => ({
    payment,
    options: options.get(payment.payment_id) ?? [],
    transactions: byPayment.get(payment.payment_id) ?? [],
    heights,
  }));
}

export const optionsOf = (merchantId: string, ids: readonly string[]) => prepared<OptionRow>`
  select ${PAYMENT_OPTION.list} from payment_option
  where merchant_id = ${merchantId} and payment_id = any(${ids}::uuid[])
  order by currency, network`;

async function listTransactions(db: Db, merchantId: string, ids: readonly string[]) {
  return await db
    .selectFrom('payment_transaction')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_id', '=', oneOf(ids))
    .orderBy('seen_at')
    .orderBy('tx_id')
    .orderBy('index')
    .execute();
}

export async function updatePayment(
  tx: Tx,
  payment: PaymentRow,
  change: Updateable<Tables['payment']>,
): Promise<PaymentRow> {
  if (change.status !== undefined) PAYMENT_MOVES.check(payment.status, change.status);
  return await tx
    .updateTable('payment')
    .set(change)
    .where('merchant_id', '=', payment.merchant_id)
    .where('payment_id', '=', payment.payment_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The columns of a payment that a scan changes. */
export type DepositChange = Pick<
  PaymentRow,
  | 'payment_id'
  | 'status'
  | 'fixed_currency'
  | 'fixed_network'
  | 'received_amount'
  | 'held_amount'
  | 'completed_at'
>;

/** Writes what a scan changed. The caller holds the payments' locks. @throws if a status may not change like that */
export async function updatePayments(
  tx: Tx,
  merchantId: string,
  changes: readonly { before: PaymentRow; change: DepositChange }[],
): Promise<void> {
  for (const { before, change } of changes) PAYMENT_MOVES.check(before.status, change.status);
  const rows = changes.map(({ change }) => ({ merchant_id: merchantId, ...change }));
  await updateRows(tx, PAYMENT, rows, ['payment_id']);
}

export async function upsertOption(tx: Tx, row: OptionRow): Promise<void> {
  const earlier_quotes = JSON.stringify(row.earlier_quotes);
  await tx
    .insertInto('payment_option')
    .values({ ...row, earlier_quotes })
    .onConflict((conflict) =>
      conflict.columns(['merchant_id', 'payment_id', 'currency', 'network']).doUpdateSet({
        exchange_rate: row.exchange_rate,
        pay_amount: row.pay_amount,
        quoted_at: row.quoted_at,
        quote_ends_at: row.quote_ends_at,
        earlier_quotes,
        chosen_at: row.chosen_at,
      }),
    )
    .execute();
}

/** The columns of a transfer that scans and decisions write; refunds, sweeps and losses have their own queries. */
export type TransactionChange = Omit<
  TransactionRow,
  'merchant_id' | 'refunded_amount' | 'refunding_amount' | 'sweep_id' | 'swept_amount' | 'lost_at' | 'pulled'
>;

export async function upsertTransactions(
  tx: Tx,
  merchantId: string,
  rows: readonly TransactionChange[],
): Promise<void> {
  const changed = listed('c', rows, {
    network: ['text', (t) => t.network],
    tx_id: ['text', (t) => t.tx_id],
    index: ['integer', (t) => t.index],
    payment_id: ['uuid', (t) => t.payment_id],
    currency: ['text', (t) => t.currency],
    address: ['text', (t) => t.address],
    sender: ['text', (t) => t.sender],
    amount: ['bigint', (t) => t.amount],
    kind: ['text', (t) => t.kind],
    status: ['text', (t) => t.status],
    decision: ['text', (t) => t.decision],
    held_amount: ['bigint', (t) => t.held_amount],
    height: ['bigint', (t) => t.height],
    required_confirmations: ['integer', (t) => t.required_confirmations],
    is_early: ['boolean', (t) => t.is_early],
    seen_at: ['bigint', (t) => t.seen_at],
    final_at: ['bigint', (t) => t.final_at],
  });
  const { numAffectedRows } = await prepared`
    insert into payment_transaction as t (merchant_id, network, tx_id, index, payment_id, currency, address, sender, amount,
      kind, status, decision, held_amount, height, required_confirmations, is_early, seen_at, final_at)
    select ${merchantId}::uuid, c.* from ${changed}
    on conflict (merchant_id, network, tx_id, index) do update set
      kind = excluded.kind, status = excluded.status, decision = excluded.decision,
      held_amount = excluded.held_amount, height = excluded.height,
      required_confirmations = excluded.required_confirmations, is_early = excluded.is_early, seen_at = excluded.seen_at,
      final_at = excluded.final_at
      where ${TRANSACTION_MOVES.allowedIn(sql`t.status`, sql`excluded.status`)}`.execute(tx);
  invariant(numAffectedRows === BigInt(rows.length), 'a final deposit stays final');
}
