import type { Network } from '@florin/contract/money';
import { type Insertable, sql } from 'kysely';
import type { Db, Tables, Tx } from '../../platform/db/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
import '../tables.ts';
import type { Turn } from './turns.ts';

// Deposit addresses, and the scan cursor of each network.

/** Reserves the next address index of a merchant on a network. Each index is used once. */
export async function nextAddressIndex(
  tx: Tx,
  { merchantId, network }: { merchantId: string; network: Network },
  nowSeconds: number,
): Promise<bigint> {
  const { rows } = await sql<{ taken: bigint }>`
    insert into deposit_cursor as c (merchant_id, network, next_address_index, news_at)
    values (${merchantId}, ${network}, 1, ${nowSeconds})
    on conflict (merchant_id, network) do update set
      next_address_index = c.next_address_index + 1, news_at = greatest(c.news_at, excluded.news_at)
    returning next_address_index - 1 as taken`.execute(tx);
  return rows[0]?.taken ?? 0n;
}

export async function insertAddress(tx: Tx, row: Insertable<Tables['deposit_address']>): Promise<void> {
  await tx.insertInto('deposit_address').values(row).execute();
}

/** The scan cursors of a merchant, one for each network with an address. */
export async function listCursors(db: Db, merchantId: string) {
  return await db.selectFrom('deposit_cursor').selectAll().where('merchant_id', '=', merchantId).execute();
}

/** The cursor over the final blocks of a network; null: none was read yet. */
export async function findCursor(db: Db, merchantId: string, network: Network): Promise<string | null> {
  return (await listCursors(db, merchantId)).find((row) => row.network === network)?.cursor ?? null;
}

/** What decides how a network is scanned, and when the next time. */
export interface NetworkState {
  cursor: string | null;
  read_at: bigint;
  news_at: bigint;
  /** Something was seen there that is neither final nor gone. */
  has_seen: boolean;
  /** How many addresses were given out. */
  addresses: bigint;
  /** A payment that is not over has an option there. */
  is_open: boolean;
  /** A payment waits for its networks to be read beyond its expiry. */
  is_overdue: boolean;
}

/** Whether somebody may pay there, or what was seen is not final. */
export const isWaiting = ({ is_open, has_seen }: Pick<NetworkState, 'is_open' | 'has_seen'>): boolean =>
  is_open || has_seen;

/** @returns undefined if the merchant has no address on the network */
export async function readNetworkState(
  db: Db,
  { merchantId, network }: { merchantId: string; network: Network },
  nowSeconds: number,
): Promise<NetworkState | undefined> {
  const { rows } = await prepared<NetworkState>`
    select cursor, read_at, news_at, next_address_index as addresses,
      exists (select from payment_transaction t
        where t.merchant_id = c.merchant_id and t.network = c.network and t.status = 'seen') as has_seen,
      exists (select from payment p
        join payment_option o on o.merchant_id = p.merchant_id and o.payment_id = p.payment_id
        where p.merchant_id = c.merchant_id and p.status in ('pending', 'processing', 'frozen')
          and p.chosen_network is not null and o.network = c.network) as is_open,
      exists (select from payment p
        where p.merchant_id = c.merchant_id and p.status in ('pending', 'processing', 'frozen')
          and p.chosen_network is not null and p.expires_at between c.read_at + 1 and ${nowSeconds}::bigint
        ) as is_overdue
    from deposit_cursor c
    where c.merchant_id = ${merchantId} and c.network = ${network}`.execute(db);
  return rows[0];
}

/** Which of these watch addresses are the merchant's, with their payments. */
export async function findAddresses(
  db: Db,
  merchantId: string,
  network: Network,
  watch: readonly string[],
): Promise<AddressRow[]> {
  const { rows } = await prepared<AddressRow>`
    select o.address, d.watch, d.payment_id
    from deposit_address d
    join payment_option o on o.merchant_id = d.merchant_id and o.payment_id = d.payment_id
      and o.currency = d.currency and o.network = d.network
    where d.merchant_id = ${merchantId} and d.network = ${network} and d.watch = any(${watch}::text[])`.execute(
    db,
  );
  return rows;
}

interface AddressRow {
  address: string;
  watch: string;
  payment_id: string;
}

/** All deposit addresses of a merchant on a network, with their payments. */
export async function listAddresses(db: Db, merchantId: string, network: Network): Promise<AddressRow[]> {
  return await db
    .selectFrom('payment_option')
    .select(['address', 'watch', 'payment_id'])
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('watch', 'is not', null)
    .$narrowType<{ watch: string }>()
    .execute();
}

/** As `listAddresses`, those that somebody may still pay or from which something has still to come, and of the others those whose turn it is. */
export async function listDueAddresses(
  db: Db,
  { merchantId, network }: { merchantId: string; network: Network },
  { seconds, first, count }: Turn,
): Promise<AddressRow[]> {
  const option = sql`o.merchant_id = ${merchantId} and o.network = ${network} and o.watch is not null`;
  const { rows } = await sql<AddressRow>`
    select o.address, o.watch, o.payment_id from payment p
    join payment_option o on o.merchant_id = p.merchant_id and o.payment_id = p.payment_id
    where p.merchant_id = ${merchantId} and p.status in ('pending', 'processing', 'frozen')
      and p.chosen_network is not null and ${option}
    union
    select o.address, o.watch, o.payment_id from payment_transaction t
    join payment_option o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.status = 'seen' and ${option}
    union
    select o.address, o.watch, o.payment_id from deposit_address d
    join payment_option o on o.merchant_id = d.merchant_id and o.watch = d.watch
    where d.merchant_id = ${merchantId} and d.network = ${network} and ${option} and ${count}::bigint > 0
      and (d.address_index + ${seconds - first}::bigint) % ${seconds}::bigint < ${count}::bigint`.execute(db);
  return rows;
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

/** Saves how far a network was read. Does nothing if another scan has moved the cursor meanwhile. */
export async function saveCursor(
  tx: Tx,
  position: { merchantId: string; network: Network; before: string | null },
  read: { cursor: string | null; readAt?: number; height?: bigint; newsAt?: number },
): Promise<void> {
  await sql`
    update deposit_cursor set
      cursor = ${read.cursor},
      read_at = coalesce(${read.readAt ?? null}::bigint, read_at),
      news_at = greatest(news_at, ${read.newsAt ?? 0}::bigint),
      height = greatest(height, ${read.height ?? null}::bigint)
    where merchant_id = ${position.merchantId} and network = ${position.network}
      and cursor is not distinct from ${position.before}::text`.execute(tx);
}

/** How far workers have looked for deposits of real money on a network. */
export interface ScanState {
  network: Network;
  height: bigint;
  /** Unix seconds. */
  readAt: number;
}

/** The furthest of all live merchants: their scans share what they read. */
export async function listScans(db: Db): Promise<ScanState[]> {
  const { rows } = await sql<{ network: Network; height: bigint; read_at: bigint }>`
    select c.network, max(c.height) as height, max(c.read_at) as read_at
    from deposit_cursor c join merchant m on m.merchant_id = c.merchant_id
    where m.mode = 'live' and c.read_at > 0 group by 1 order by 1`.execute(db);
  return rows.map(({ network, height, read_at: readAt }) => ({ network, height, readAt: Number(readAt) }));
}

/** Adds the deposit address of a live merchant to the directory over all merchants, which holds it once. */
export async function insertDepositOwner(tx: Tx, row: Insertable<Tables['deposit_owner']>): Promise<void> {
  await tx.insertInto('deposit_owner').values(row).execute();
}
