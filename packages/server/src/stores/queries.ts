import type { Scope } from '@florin/contract/scopes';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { readLoaderPerPool } from '../platform/db/loaders/index.ts';
import { listed, prepared } from '../platform/db/statements/index.ts';
import { Fail } from '../platform/fail.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import './tables.ts';

/** A merchant's suspensions, in seconds of its own clock. */
export interface Suspensions {
  /** When the present suspension began; null: not suspended. */
  suspendedAt: number | null;
  /** The total length of ended suspensions. */
  suspendedSeconds: number;
  /** When it was last resumed. */
  resumedAt: number | null;
}

export interface Merchant extends Suspensions {
  merchantId: string;
  name: string;
  mode: MerchantMode;
  status: 'active' | 'suspended';
  clockOffset: number;
  createdAt: number;
}

/** Everything that a request's signature and rights depend on, in one row. */
export interface KeyAccess {
  merchant_id: string;
  key_id: string;
  store_id: string;
  scopes: Scope[];
  owner_approver_id: string | null;
  holders: string[];
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until_ms: bigint | null;
  expires_at_ms: bigint | null;
  revoked_at_ms: bigint | null;
  channel_type: string;
  review_status: string;
  enabled: boolean;
  mode: MerchantMode;
  merchant_status: 'active' | 'suspended';
  clock_offset: bigint;
}

const ACCESS = sql`
    select k.merchant_id, k.key_id, k.store_id, k.scopes, k.owner_approver_id, k.holders, k.secret, k.previous_secret,
           k.previous_secret_until_ms, k.expires_at_ms, k.revoked_at_ms,
           s.channel_type, s.review_status, s.enabled, m.mode, m.status as merchant_status, m.clock_offset
    from api_key k
    join store s on s.merchant_id = k.merchant_id and s.store_id = k.store_id
    join merchant m on m.merchant_id = k.merchant_id`;

export async function findKeyAccess(
  db: Db,
  merchantId: string,
  digest: Buffer,
): Promise<KeyAccess | undefined> {
  const { rows } = await prepared<KeyAccess>`
    ${ACCESS} where k.merchant_id = ${merchantId} and k.digest = ${digest}`.execute(db);
  return rows[0];
}

/** The part of a key's access that may end during a long-lived response. */
export type KeyRights = Pick<
  KeyAccess,
  'key_id' | 'expires_at_ms' | 'revoked_at_ms' | 'review_status' | 'enabled' | 'merchant_status'
>;

export async function listKeyRights(
  db: Db,
  keys: readonly { merchantId: string; keyId: string }[],
): Promise<KeyRights[]> {
  const { rows } = await prepared<KeyRights>`
    select k.key_id, k.expires_at_ms, k.revoked_at_ms, s.review_status, s.enabled, m.status as merchant_status
    from ${listed('w', keys, { merchant_id: ['uuid', (key) => key.merchantId], key_id: ['uuid', (key) => key.keyId] })}
    join api_key k on k.merchant_id = w.merchant_id and k.key_id = w.key_id
    join store s on s.merchant_id = k.merchant_id and s.store_id = k.store_id
    join merchant m on m.merchant_id = k.merchant_id`.execute(db);
  return rows;
}

/**
 * Spends a nonce at the database's own time, however wrong the node's may be.
 *
 * @returns that time in Unix milliseconds; undefined when the key has spent this nonce before
 */
export async function spendNonce(db: Db, spent: NonceRow): Promise<number | undefined> {
  const { rows } = await prepared<{ spent_at_ms: bigint }>`
    insert into nonce (merchant_id, key_id, nonce, spent_at_ms)
    values (${spent.merchantId}, ${spent.keyId}, ${spent.nonce},
            (extract(epoch from statement_timestamp()) * 1000)::bigint)
    on conflict (merchant_id, key_id, nonce) do nothing
    returning spent_at_ms`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : Number(row.spent_at_ms);
}

/** A request whose signature was verified with a cached secret. */
export interface VerifiedRequest {
  merchantId: string;
  digest: Buffer;
  /** The sealed bytes of that secret. */
  sealed: Buffer;
  nonce: string;
  nowMs: number;
}

/**
 * Reads a key and, where the cached secret is still valid and the key has not ended, spends the nonce; one statement, so
 * that a request's rights are always those of the present row.
 *
 * @returns the key, with the time of the nonce as in `spendNonce`; null where it was not spent
 */
export async function spendNonceOfKey(
  db: Db,
  { merchantId, digest, sealed, nonce, nowMs }: VerifiedRequest,
): Promise<(KeyAccess & { spent_at_ms: bigint | null }) | undefined> {
  const { rows } = await prepared<KeyAccess & { spent_at_ms: bigint | null }>`
    with access as (${ACCESS} where k.merchant_id = ${merchantId} and k.digest = ${digest}), spent as (
      insert into nonce (merchant_id, key_id, nonce, spent_at_ms)
      select ${merchantId}::uuid, key_id, ${nonce}::text, (extract(epoch from statement_timestamp()) * 1000)::bigint
      from access
      where revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > ${nowMs}::bigint)
        and (secret = ${sealed}::bytea
             or (previous_secret = ${sealed}::bytea and previous_secret_until_ms > ${nowMs}::bigint))
      on conflict (merchant_id, key_id, nonce) do nothing
      returning spent_at_ms
    )
    select access.*, spent.spent_at_ms from access left join spent on true`.execute(db);
  return rows[0];
}

export interface NonceRow {
  merchantId: string;
  keyId: string;
  nonce: string;
}

/** Writes the row again: this commit is synchronous and flushes the first one to disk too. */
export async function rewriteNonce(db: Db, spent: NonceRow): Promise<void> {
  await sql`
    update nonce set spent_at_ms = spent_at_ms
    where merchant_id = ${spent.merchantId} and key_id = ${spent.keyId} and nonce = ${spent.nonce}`.execute(
    db,
  );
}

export async function findOldestNonceMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ oldest: bigint | null }>`select min(spent_at_ms) as oldest from nonce`.execute(
    db,
  );
  const oldest = rows[0]?.oldest ?? null;
  return oldest === null ? undefined : Number(oldest);
}

export async function deleteNoncesBefore(db: Db, cutoffMs: number): Promise<void> {
  await sql`delete from nonce where spent_at_ms < ${cutoffMs}`.execute(db);
}

const merchantColumns = [
  'merchant_id',
  'name',
  'mode',
  'status',
  'clock_offset',
  'suspended_at',
  'suspended_seconds',
  'resumed_at',
  'created_at',
] as const;
interface MerchantRow {
  merchant_id: string;
  name: string;
  mode: MerchantMode;
  status: 'active' | 'suspended';
  clock_offset: bigint;
  suspended_at: bigint | number | null;
  suspended_seconds: bigint;
  resumed_at: bigint | number | null;
  created_at: bigint | number;
}
const secondsOrNull = (value: bigint | number | null) => (value === null ? null : Number(value));
const toMerchant = (row: MerchantRow): Merchant => ({
  merchantId: row.merchant_id,
  name: row.name,
  mode: row.mode,
  status: row.status,
  clockOffset: Number(row.clock_offset),
  suspendedAt: secondsOrNull(row.suspended_at),
  suspendedSeconds: Number(row.suspended_seconds),
  resumedAt: secondsOrNull(row.resumed_at),
  createdAt: Number(row.created_at),
});

/** The total length of a merchant's suspensions, the present one included. @param now time of the merchant's clock */
export const suspendedFor = (
  { suspendedAt, suspendedSeconds }: Pick<Suspensions, 'suspendedAt' | 'suspendedSeconds'>,
  now: number,
) => suspendedSeconds + (suspendedAt === null ? 0 : Math.max(0, now - suspendedAt));

/** Jobs of a merchant that begin together share one read of its row. */
const reads = readLoaderPerPool<undefined, Merchant | undefined>((db) => async (merchantId, keys) => {
  const merchant = await readMerchant(db, merchantId);
  return keys.map(() => merchant);
});

export async function findMerchant(db: Db, merchantId: string): Promise<Merchant | undefined> {
  return db.isTransaction ? await readMerchant(db, merchantId) : await reads(db).load(merchantId, undefined);
}

async function readMerchant(db: Db, merchantId: string): Promise<Merchant | undefined> {
  const { rows } = await prepared<MerchantRow>`
    select ${sql.raw(merchantColumns.join(', '))} from merchant where merchant_id = ${merchantId}`.execute(
    db,
  );
  const [row] = rows;
  return row && toMerchant(row);
}

/** @throws Fail `resource_not_found` */
export async function getMerchant(db: Db, merchantId: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchantId);
  if (merchant === undefined)
    throw new Fail('resource_not_found', `There is no merchant ${encodeId('merchant', merchantId)}.`);
  return merchant;
}

/** All merchants, or a page of them behind the one with that id, oldest first. */
export async function listMerchants(
  db: Db,
  page?: { limit: number; after?: string | undefined },
): Promise<Merchant[]> {
  const rows = await db
    .selectFrom('merchant')
    .select(merchantColumns)
    .$if(page?.after !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at, merchant_id) > (select created_at, merchant_id from merchant where merchant_id = ${page?.after ?? ''})`,
      ),
    )
    .orderBy('created_at')
    .orderBy('merchant_id')
    .$if(page !== undefined, (query) => query.limit(page?.limit ?? 0))
    .execute();
  return rows.map(toMerchant);
}

export async function getStore(db: Db, merchantId: string, storeId: string) {
  const store = await db
    .selectFrom('store')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId)
    .executeTakeFirst();
  if (store === undefined)
    throw new Fail('resource_not_found', `There is no store ${encodeId('store', storeId)}.`);
  return store;
}

export async function lockKey(tx: Tx, merchantId: string, keyId: string) {
  const key = await tx
    .selectFrom('api_key')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('key_id', '=', keyId)
    .forUpdate()
    .executeTakeFirst();
  if (key === undefined) throw new Fail('resource_not_found', `There is no key ${encodeId('key', keyId)}.`);
  return key;
}

/** Finds the merchant of a store or key by its public id, for operators. */
export async function merchantOf(db: Db, table: 'store' | 'api_key', id: string): Promise<string> {
  const uuid = decodeId(table === 'store' ? 'store' : 'key', id);
  const column = table === 'store' ? sql.ref('store_id') : sql.ref('key_id');
  const { rows } =
    uuid === undefined
      ? { rows: [] }
      : await sql<{
          merchant_id: string;
        }>`select merchant_id from ${sql.table(table)} where ${column} = ${uuid}`.execute(db);
  if (rows[0] === undefined) throw new Fail('resource_not_found', `There is no ${id}.`);
  return rows[0].merchant_id;
}

export async function findApproverByName(db: Db, merchantId: string, name: string) {
  return await db
    .selectFrom('approver')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
}

export type Approver = Awaited<ReturnType<typeof lockApprovers>>[number];

/** Locks all approvers of a merchant, removed ones too, before one is added or a vote is counted. */
export async function lockApprovers(tx: Tx, merchantId: string) {
  return await tx
    .selectFrom('approver')
    .select(['approver_id', 'name', 'removed_at', 'user_id'])
    .where('merchant_id', '=', merchantId)
    .orderBy('approver_id')
    .forNoKeyUpdate()
    .execute();
}
