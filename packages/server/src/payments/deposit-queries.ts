import type { Network } from '@florin/contract/money';
import { type Insertable, sql } from 'kysely';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import { kept } from '../platform/db/index.ts';
import { CreditedKeys } from './credited-keys.ts';
import './tables.ts';

// How far networks were read, and for whom.

/** Takes the next index of a merchant's addresses on a network: no two options ever get the same. */
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

/** How far each watched network of a merchant has been read. */
export async function listCursors(db: Db, merchantId: string) {
  return await db.selectFrom('deposit_cursor').selectAll().where('merchant_id', '=', merchantId).execute();
}

/** Up to where the final blocks have been read; null: nothing has. */
export async function findCursor(db: Db, merchantId: string, network: Network): Promise<string | null> {
  return (await listCursors(db, merchantId)).find((row) => row.network === network)?.cursor ?? null;
}

/** Where a network stands before it is read again. */
export interface NetworkState {
  cursor: string | null;
  read_at: bigint;
  news_at: bigint;
  /** Something was seen there that is neither final nor gone. */
  has_seen: boolean;
  /** A payment that is not over has an option there. */
  is_open: boolean;
  /** A payment waits for its networks to be read beyond its expiry. */
  is_overdue: boolean;
}

/** Undefined where no address was ever given out. */
export async function readNetworkState(
  db: Db,
  { merchantId, network }: { merchantId: string; network: Network },
  nowSeconds: number,
): Promise<NetworkState | undefined> {
  const { rows } = await sql<NetworkState>`${kept}
    select cursor, read_at, news_at,
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

/** Addresses of a merchant on a network: the ones asked about. */
export async function findAddresses(
  db: Db,
  merchantId: string,
  network: Network,
  watch: readonly string[],
): Promise<AddressRow[]> {
  const { rows } = await sql<AddressRow>`${kept}
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

/** All addresses ever given out on a network, with the payments they belong to. */
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

/** How far a network has been read; only ever forward, whoever else reads it. */
export async function saveCursor(
  tx: Tx,
  place: { merchantId: string; network: Network; before: string | null },
  read: { cursor: string | null; readAt?: number; height?: bigint; newsAt?: number },
): Promise<void> {
  await sql`
    update deposit_cursor set
      cursor = ${read.cursor},
      read_at = greatest(read_at, ${read.readAt ?? 0}::bigint),
      news_at = greatest(news_at, ${read.newsAt ?? 0}::bigint),
      height = greatest(height, ${read.height ?? null}::bigint)
    where merchant_id = ${place.merchantId} and network = ${place.network}
      and cursor is not distinct from ${place.before}::text`.execute(tx);
}

/** What the books know of a network's deposits, as of the transaction. */
export interface DepositBooks {
  /** As the chain's scan takes them, and as payers are shown them. */
  watch: string[];
  addresses: string[];
  cursor: string | null;
  /** `<tx_id>/<index>` of every transfer that is credited. */
  credited: CreditedKeys;
}

/** For reconciliation: all addresses there ever were, and 8 bytes of each deposit. */
export async function readDepositBooks(db: Db, merchantId: string, network: Network): Promise<DepositBooks> {
  const places = await listAddresses(db, merchantId, network);
  return {
    watch: places.map((row) => row.watch),
    addresses: places.map((row) => row.address),
    cursor: await findCursor(db, merchantId, network),
    credited: await CreditedKeys.read(db, merchantId, network),
  };
}
