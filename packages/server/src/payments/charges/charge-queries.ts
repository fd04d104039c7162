import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import { insertRows, pipeline, prepared, updateRows } from '../../platform/db/statements/index.ts';
import type { Coins } from '../deposits/coin-queries.ts';
import { PAYMENT, PAYMENT_OPTION, PAYMENT_TRANSACTION } from '../reads/columns.ts';
import {
  type OptionRow,
  optionsOf,
  type PaymentRow,
  type PaymentView,
  type TransactionRow,
  UNPAID,
} from '../reads/queries.ts';
import { PAYMENT_MOVES } from '../states.ts';
import '../tables.ts';

export interface NewChargeRow
  extends Pick<
    PaymentRow,
    | 'merchant_id'
    | 'payment_id'
    | 'store_id'
    | 'invoice_id'
    | 'customer'
    | 'amount'
    | 'currency'
    | 'status'
    | 'decline_code'
    | 'wallet_address'
    | 'created_at'
  > {
  /**
   * The amount to pull and its recipient. The address is not scanned for deposits, and the payer has no choice of
   * options.
   */
  option: {
    currency: Asset;
    network: Network;
    address: string;
    exchange_rate: string;
    pay_amount: bigint;
  } | null;
}

/** Inserts the payments of charges, each with its only option, fixed from the start. @returns them in their order */
export async function insertChargeRows(tx: Tx, rows: readonly NewChargeRow[]): Promise<PaymentView[]> {
  const views = rows.map(newCharge);
  await insertRows(
    tx,
    PAYMENT,
    views.map(({ payment }) => payment),
  );
  await insertRows(
    tx,
    PAYMENT_OPTION,
    views.flatMap(({ options }) => options),
  );
  return views;
}

function newCharge({ option, ...row }: NewChargeRow): PaymentView {
  const { merchant_id, payment_id, created_at: madeAt } = row;
  const payment: PaymentRow = {
    ...UNPAID,
    ...row,
    session_id: null,
    order_id: null,
    fixed_currency: option?.currency ?? null,
    fixed_network: option?.network ?? null,
    metadata: {},
    expires_at: null,
  };
  if (option === null) return viewOfCharge(payment, []);
  const quoted = { quoted_at: madeAt, quote_ends_at: madeAt, chosen_at: madeAt, earlier_quotes: [] };
  return viewOfCharge(payment, [{ ...option, ...quoted, merchant_id, payment_id, watch: null }]);
}

/** A charge has no transaction while it is pending, or if it took nothing. */
const viewOfCharge = (payment: PaymentRow, options: readonly OptionRow[]): PaymentView => ({
  payment,
  options,
  transactions: [],
  heights: new Map(),
});

/**
 * Locks the payments of charges, in the order of their ids. An ended one is returned without its transaction.
 *
 * @returns the payments by id
 */
export async function lockCharges(
  tx: Tx,
  merchantId: string,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentView>> {
  const [payments, options] = await pipeline(
    tx,
    prepared<PaymentRow>`
      select ${PAYMENT.list} from payment
      where merchant_id = ${merchantId} and payment_id = any(${paymentIds}::uuid[])
      order by payment_id
      for update`,
    optionsOf(merchantId, paymentIds),
  );
  const optionsBy = Map.groupBy(options, (option) => option.payment_id);
  return new Map(
    payments.map((payment) => {
      const { payment_id: id } = payment;
      return [id, viewOfCharge(payment, optionsBy.get(id) ?? [])];
    }),
  );
}

/** The columns of the payment that the end of a charge changes. */
type ChargeEnd = Pick<PaymentRow, 'status'> &
  Partial<
    Pick<PaymentRow, 'received_amount' | 'held_amount' | 'decline_code' | 'closed_at' | 'completed_at'>
  >;

/** A charge that ends. The caller holds its lock. */
export interface ChargeChange {
  before: PaymentView;
  end: ChargeEnd;
  /** The final transaction that pulled it. */
  pulled?: PulledRow;
}

/** Ends charges. @returns the updated payments, in their order @throws if one of them may not end like that */
export async function writeEnds(tx: Tx, changes: readonly ChargeChange[]): Promise<PaymentView[]> {
  for (const { before, end } of changes) PAYMENT_MOVES.check(before.payment.status, end.status);
  const views = changes.map(({ before, end, pulled }) => ({
    ...before,
    payment: { ...before.payment, ...end },
    transactions: pulled === undefined ? before.transactions : [pulledTransaction(pulled)],
  }));
  const pulled = changes.flatMap((change, i) => (change.pulled ? (views[i]?.transactions ?? []) : []));
  await insertRows(tx, PAYMENT_TRANSACTION, pulled);
  const rows = views.map(({ payment }) => {
    const { merchant_id, payment_id, status, received_amount, held_amount, decline_code } = payment;
    const { closed_at, completed_at } = payment;
    const ids = { merchant_id, payment_id };
    return { ...ids, status, received_amount, held_amount, decline_code, closed_at, completed_at };
  });
  await updateRows(tx, PAYMENT, rows, ['payment_id']);
  return views;
}

type PulledRow = Pick<
  TransactionRow,
  | 'merchant_id'
  | 'payment_id'
  | 'network'
  | 'tx_id'
  | 'currency'
  | 'address'
  | 'sender'
  | 'amount'
  | 'kind'
  | 'seen_at'
>;

/** The transaction of a charge carries only this charge. */
const pulledTransaction = (row: PulledRow): TransactionRow => ({
  ...row,
  index: 0,
  status: 'final',
  decision: null,
  pulled: true,
  held_amount: 0n,
  refunded_amount: 0n,
  refunding_amount: 0n,
  sweep_id: null,
  swept_amount: 0n,
  // The transfer attempt stores the block; a later check of the transaction starts from it.
  height: 0,
  required_confirmations: 3,
  is_early: false,
  final_at: row.seen_at,
  lost_at: null,
});

/**
 * Stores when the transaction of a charge was no longer found in any block, or that it is in one again.
 *
 * @returns its coins if that changed; else undefined
 */
export async function markPulled(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  lostAt: number | null,
): Promise<Coins | undefined> {
  const { rows } = await sql<Coins>`
    update payment_transaction set lost_at = ${lostAt}
    where merchant_id = ${merchantId} and payment_id = ${paymentId} and pulled
      and (lost_at is null) = ${lostAt !== null}::boolean
    returning payment_id as "paymentId", tx_id as "txId", network, currency, amount`.execute(tx);
  return rows[0];
}
