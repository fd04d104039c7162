import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { insertRows, many, together, updateRows } from '../platform/db/index.ts';
import type { Coins } from './coin-queries.ts';
import { PAYMENT, PAYMENT_OPTION, PAYMENT_TRANSACTION } from './columns.ts';
import {
  type OptionRow,
  optionsOf,
  type PaymentRow,
  type PaymentView,
  type TransactionRow,
  UNPAID,
} from './queries.ts';
import './tables.ts';

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
  /** What is pulled; no one watches where to, and the payer chooses nothing. */
  option: {
    currency: Asset;
    network: Network;
    address: string;
    exchange_rate: string;
    pay_amount: bigint;
  } | null;
}

/** The payment of a charge with its one option, which is fixed from the start. */
export async function insertCharge(tx: Tx, { option, ...row }: NewChargeRow): Promise<PaymentView> {
  const { merchant_id, payment_id, created_at: madeAt } = row;
  const payment: PaymentRow = {
    ...UNPAID,
    ...row,
    session_id: null,
    fixed_currency: option?.currency ?? null,
    fixed_network: option?.network ?? null,
    metadata: {},
    expires_at: null,
  };
  await insertRows(tx, PAYMENT, [payment]);
  if (option === null) return viewOfCharge(payment, []);
  const quoted = { quoted_at: madeAt, quote_ends_at: madeAt, chosen_at: madeAt, earlier_quotes: [] };
  const fixed: OptionRow = { ...option, ...quoted, merchant_id, payment_id, watch: null };
  await insertRows(tx, PAYMENT_OPTION, [fixed]);
  return viewOfCharge(payment, [fixed]);
}

/** As long as it is on its way, and where it took nothing, a charge has no transaction. */
const viewOfCharge = (payment: PaymentRow, options: readonly OptionRow[]): PaymentView => ({
  payment,
  options,
  transactions: [],
  heights: new Map(),
});

/**
 * Locks the payment of a charge. One that is over is shown without its transaction.
 *
 * @throws where there is none
 */
export async function lockCharge(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
): Promise<PaymentView> {
  const [[payment], options] = await together(
    tx,
    sql<PaymentRow>`${many('payment_id')}
      select ${PAYMENT.list} from payment
      where merchant_id = ${merchantId} and payment_id = any(${[paymentId]}::uuid[])
      order by payment_id
      for update`,
    optionsOf(merchantId, [paymentId]),
  );
  if (payment === undefined) throw new Error(`there is no charge ${paymentId}`);
  return viewOfCharge(payment, options);
}

/** What the end of a charge changes in its payment. */
type ChargeEnd = Pick<PaymentRow, 'status'> &
  Partial<
    Pick<PaymentRow, 'received_amount' | 'held_amount' | 'decline_code' | 'closed_at' | 'completed_at'>
  >;

/** Ends a charge, whose lock the caller has. @returns it as it is from now on */
export async function endCharge(tx: Tx, before: PaymentView, end: ChargeEnd): Promise<PaymentView> {
  const payment = { ...before.payment, ...end };
  const { merchant_id, payment_id, status, received_amount, held_amount, decline_code } = payment;
  const { closed_at, completed_at } = payment;
  const change = { status, received_amount, held_amount, decline_code, closed_at, completed_at };
  await updateRows(tx, PAYMENT, [{ merchant_id, payment_id, ...change }], ['payment_id']);
  return { ...before, payment };
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

/** The transaction of a charge that is final; it carries nothing else. */
export async function insertPulled(tx: Tx, row: PulledRow): Promise<TransactionRow> {
  const pulled: TransactionRow = {
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
    // Its attempt knows its block: whoever looks at that again begins there.
    height: 0,
    final_at: row.seen_at,
    lost_at: null,
  };
  await insertRows(tx, PAYMENT_TRANSACTION, [pulled]);
  return pulled;
}

/** What charges have brought into the merchant's wallet on a network, as it is booked. */
export async function sumPulled(
  db: Db,
  merchantId: string,
  { network, currency }: { network: Network; currency: Asset },
): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(amount), 0)::text as total from payment_transaction
    where merchant_id = ${merchantId} and network = ${network} and currency = ${currency} and pulled`.execute(
    db,
  );
  return BigInt(rows[0]?.total ?? 0);
}

/** Notes when the transaction of a charge was found in no block any more, or that it is in one again. @returns its coins where that is news */
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
