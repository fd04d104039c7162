import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db.ts';
import type { Coins } from './coin-queries.ts';
import type { PaymentRow } from './queries.ts';
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
export async function insertCharge(tx: Tx, { option, ...row }: NewChargeRow): Promise<void> {
  const fixed = { fixed_currency: option?.currency ?? null, fixed_network: option?.network ?? null };
  await tx
    .insertInto('payment')
    .values({ ...row, ...fixed })
    .execute();
  if (option === null) return;
  const { merchant_id, payment_id, created_at: chosen_at } = row;
  const own = { merchant_id, payment_id, chosen_at, quote_ends_at: chosen_at, watch: null };
  await tx
    .insertInto('payment_option')
    .values({ ...option, ...own })
    .execute();
}

interface PulledRow {
  merchant_id: string;
  payment_id: string;
  network: Network;
  tx_id: string;
  currency: Asset;
  address: string;
  sender: string;
  amount: bigint;
  seen_at: number;
}

/** The transaction of a charge that is final; it carries nothing else. */
export async function insertPulled(tx: Tx, row: PulledRow): Promise<void> {
  await tx
    .insertInto('payment_transaction')
    .values({
      ...row,
      index: 0,
      kind: 'counted',
      status: 'final',
      decision: null,
      pulled: true,
      // Its attempt knows its block: whoever looks at that again begins there.
      height: 0,
      final_at: row.seen_at,
    })
    .execute();
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
