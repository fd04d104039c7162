import type { Network } from '@florin/contract/money';
import { type Insertable, sql, type UpdateObject } from 'kysely';
import type { Db, Tables, Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId } from '../platform/ids.ts';
import './tables.ts';

const paymentNotFound = () => new Fail('resource_not_found', 'There is no such payment.');
const sessionNotFound = () => new Fail('resource_not_found', 'There is no such session.');

const selectPayment = (db: Db, merchantId: string, paymentId: string) =>
  db
    .selectFrom('payment')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_id', '=', paymentId);

export type PaymentRow = NonNullable<
  Awaited<ReturnType<ReturnType<typeof selectPayment>['executeTakeFirst']>>
>;
export type SessionRow = Awaited<ReturnType<typeof getSession>>;
export type OptionRow = Awaited<ReturnType<typeof listOptions>>[number];
export type TransactionRow = Awaited<ReturnType<typeof listTransactions>>[number];

/** What tells a transfer from every other of the merchant. */
export const transactionKey = (t: Pick<TransactionRow, 'network' | 'tx_id' | 'index'>) =>
  `${t.network}/${t.tx_id}/${t.index}`;

/** A payment with all that its GET shows. */
export interface PaymentView {
  payment: PaymentRow;
  options: readonly OptionRow[];
  transactions: readonly TransactionRow[];
  /** The newest block of each network when it was last read. */
  heights: ReadonlyMap<Network, bigint>;
}

interface Owner {
  merchantId: string;
  storeId: string;
}

function checkStore<T extends { store_id: string }>(row: T, { storeId }: Owner): T {
  if (row.store_id !== storeId) throw new Fail('forbidden', 'This belongs to another store of the merchant.');
  return row;
}

/** @throws Fail `resource_not_found`; `forbidden` for one of the merchant's other store */
export async function getSession(db: Db, owner: Owner, id: string) {
  const sessionId = decodeId('checkoutSession', id);
  const row =
    sessionId &&
    (await db
      .selectFrom('checkout_session')
      .selectAll()
      .where('merchant_id', '=', owner.merchantId)
      .where('session_id', '=', sessionId)
      .executeTakeFirst());
  if (!row) throw sessionNotFound();
  return checkStore(row, owner);
}

/**
 * The UUID of a payment as a caller names it: by its own id or its session's.
 *
 * @throws Fail `resource_not_found`; `forbidden` for one of the merchant's other store
 */
export async function findPaymentId(db: Db, owner: Owner, id: string): Promise<string> {
  if (id.startsWith('cs_')) {
    return (
      await getSession(db, owner, id).catch((error: unknown) => {
        throw error instanceof Fail && error.code === 'resource_not_found' ? paymentNotFound() : error;
      })
    ).payment_id;
  }
  const paymentId = decodeId('payment', id);
  const row = paymentId && (await selectPayment(db, owner.merchantId, paymentId).executeTakeFirst());
  if (!row) throw paymentNotFound();
  return checkStore(row, owner).payment_id;
}

/** Every change of a payment begins here: whoever holds the row decides. */
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

export async function viewOf(db: Db, payment: PaymentRow): Promise<PaymentView> {
  const { merchant_id: merchantId, payment_id: paymentId } = payment;
  const options = await listOptions(db, merchantId, paymentId);
  const transactions = await listTransactions(db, merchantId, paymentId);
  const cursors = transactions.some((t) => t.status === 'seen') ? await listCursors(db, merchantId) : [];
  const heights = new Map(cursors.map((row) => [row.network, BigInt(row.height)]));
  return { payment, options, transactions, heights };
}

async function listOptions(db: Db, merchantId: string, paymentId: string) {
  return await db
    .selectFrom('payment_option')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_id', '=', paymentId)
    .orderBy('currency')
    .orderBy('network')
    .execute();
}

async function listTransactions(db: Db, merchantId: string, paymentId: string) {
  return await db
    .selectFrom('payment_transaction')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_id', '=', paymentId)
    .orderBy('seen_at')
    .orderBy('tx_id')
    .orderBy('index')
    .execute();
}

export async function insertPayment(tx: Tx, row: Insertable<Tables['payment']>): Promise<PaymentRow> {
  return await tx.insertInto('payment').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function insertSession(
  tx: Tx,
  row: Insertable<Tables['checkout_session']>,
): Promise<SessionRow> {
  return await tx
    .insertInto('checkout_session')
    .values({ ...row, options: JSON.stringify(row.options) as never })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updatePayment(
  tx: Tx,
  payment: PaymentRow,
  change: UpdateObject<Tables, 'payment'>,
): Promise<PaymentRow> {
  return await tx
    .updateTable('payment')
    .set(change)
    .where('merchant_id', '=', payment.merchant_id)
    .where('payment_id', '=', payment.payment_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function upsertOption(tx: Tx, row: Insertable<Tables['payment_option']>): Promise<void> {
  await tx
    .insertInto('payment_option')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['merchant_id', 'payment_id', 'currency', 'network']).doUpdateSet({
        exchange_rate: row.exchange_rate,
        pay_amount: row.pay_amount,
        quote_ends_at: row.quote_ends_at,
        chosen_at: row.chosen_at,
      }),
    )
    .execute();
}

/** Takes the next index of a merchant's addresses on a network: no two options ever get the same. */
export async function nextAddressIndex(tx: Tx, merchantId: string, network: Network): Promise<bigint> {
  const { rows } = await sql<{ taken: bigint }>`
    insert into deposit_cursor as c (merchant_id, network, next_address_index) values (${merchantId}, ${network}, 1)
    on conflict (merchant_id, network) do update set next_address_index = c.next_address_index + 1
    returning next_address_index - 1 as taken`.execute(tx);
  return rows[0]?.taken ?? 0n;
}

export async function insertAddress(tx: Tx, row: Insertable<Tables['deposit_address']>): Promise<void> {
  await tx.insertInto('deposit_address').values(row).execute();
}

/** How far each watched network of a merchant has been read. */
export async function listCursors(db: Db, merchantId: string) {
  return await db.selectFrom('deposit_cursor').selectAll().where('merchant_id', '=', merchantId).execute();
}

export async function findCursor(db: Db, merchantId: string, network: Network) {
  return (await listCursors(db, merchantId)).find((row) => row.network === network);
}

/** All addresses ever given out on a network, with the payments they belong to. */
export async function listAddresses(db: Db, merchantId: string, network: Network) {
  return await db
    .selectFrom('payment_option')
    .select(['address', 'watch', 'payment_id'])
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .execute();
}

/** Payments with a transfer that was seen on the network and is not final. */
export async function listPaymentsSeen(db: Db, merchantId: string, network: Network): Promise<string[]> {
  const rows = await db
    .selectFrom('payment_transaction')
    .select('payment_id')
    .distinct()
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('status', '=', 'seen')
    .execute();
  return rows.map((row) => row.payment_id);
}

/** Whether somebody may be paying on the network right now: a payment that is open has an option on it. */
export async function hasOpenPayments(db: Db, merchantId: string, network: Network): Promise<boolean> {
  const { rows } = await sql`
    select from payment_option o
    join payment p on p.merchant_id = o.merchant_id and p.payment_id = o.payment_id
    where o.merchant_id = ${merchantId} and o.network = ${network} and p.status in ('pending', 'processing', 'frozen')
    limit 1`.execute(db);
  return rows.length > 0;
}

/** How far a network has been read; only ever forward, whoever else reads it. */
export async function saveCursor(
  tx: Tx,
  place: { merchantId: string; network: Network; before: string | null },
  read: { cursor: string | null; readAt?: number; height?: bigint },
): Promise<void> {
  await sql`
    update deposit_cursor set
      cursor = ${read.cursor},
      read_at = greatest(read_at, ${read.readAt ?? 0}::bigint),
      height = coalesce(${read.height ?? null}::bigint, height)
    where merchant_id = ${place.merchantId} and network = ${place.network}
      and cursor is not distinct from ${place.before}::text`.execute(tx);
}

export async function upsertTransactions(
  tx: Tx,
  rows: readonly Insertable<Tables['payment_transaction']>[],
): Promise<void> {
  for (const row of rows) {
    await tx
      .insertInto('payment_transaction')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['merchant_id', 'network', 'tx_id', 'index']).doUpdateSet({
          kind: row.kind,
          status: row.status,
          height: row.height,
          seen_at: row.seen_at,
          final_at: row.final_at ?? null,
          held_amount: row.held_amount ?? 0n,
          decision: row.decision ?? null,
        }),
      )
      .execute();
  }
}

/** What the books know of a network's deposits, as of the transaction. */
export interface DepositBooks {
  /** As the chain's scan takes them, and as payers are shown them. */
  watch: string[];
  addresses: string[];
  cursor: string | null;
  /** `<tx_id>/<index>` of every transfer that is credited. */
  credited: ReadonlySet<string>;
}

/** For reconciliation: it reads all deposits there ever were. */
export async function readDepositBooks(db: Db, merchantId: string, network: Network): Promise<DepositBooks> {
  const places = await listAddresses(db, merchantId, network);
  const credited = await db
    .selectFrom('payment_transaction')
    .select(['tx_id', 'index'])
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('status', '=', 'final')
    .execute();
  return {
    watch: places.map((row) => row.watch),
    addresses: places.map((row) => row.address),
    cursor: (await findCursor(db, merchantId, network))?.cursor ?? null,
    credited: new Set(credited.map((row) => `${row.tx_id}/${row.index}`)),
  };
}
