import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed, prepared } from '../../platform/db/statements/index.ts';
import '../tables.ts';

export interface MerchantNetwork {
  merchantId: string;
  network: Network;
}

export interface FinalBlock {
  height: bigint;
  hash: string;
}

/** Enough to show the depth of a reorganisation while a block is recorded every few seconds. */
const KEPT_MAX = 8;

export interface RecordedBlock extends FinalBlock {
  isReplaced: boolean;
}

/** Recorded final blocks, newest first, with those that were replaced and not audited since. */
export async function listFinalBlocks(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<RecordedBlock[]> {
  const { rows } = await prepared<RecordedBlock>`
    select height, hash, replaced_at is not null as "isReplaced" from final_block
    where merchant_id = ${merchantId} and network = ${network}
    order by height desc, hash`.execute(db);
  return rows;
}

const keyOf = ({ height, hash, isReplaced }: RecordedBlock) => `${height} ${hash} ${isReplaced}`;

/**
 * Records a final block and deletes the oldest beyond eight, unless the recorded ones have changed since `known` was read: the
 * hash may be that of a block which was replaced meanwhile, and would stop the network a second time.
 *
 * @returns false where they have changed, or somebody else has recorded this block meanwhile
 */
export async function recordFinalBlock(
  db: Db,
  { merchantId, network }: MerchantNetwork,
  { height, hash }: FinalBlock,
  known: readonly RecordedBlock[],
): Promise<boolean> {
  const keys = known.map(keyOf).sort();
  const hasIntact = known.some(({ isReplaced }) => !isReplaced);
  // Whoever marks blocks as replaced locks the newest one.
  const { rows } = await prepared<{ isRecorded: boolean }>`
    with newest as materialized (
      select b.height from final_block b
      where b.merchant_id = ${merchantId} and b.network = ${network} and b.replaced_at is null
      order by b.height desc limit 1 for share
    ), recorded as (
      insert into final_block (merchant_id, network, height, hash)
      select ${merchantId}::uuid, ${network}, ${height}::bigint, ${hash}
      where (select count(*) from newest) = ${hasIntact ? 1 : 0}::int and ${keys}::text[] = array(
        select k.key from (
          select b.height || ' ' || b.hash || ' ' || (b.replaced_at is not null)::text as key from final_block b
          where b.merchant_id = ${merchantId} and b.network = ${network}) as k
        order by k.key collate "C")
      on conflict (merchant_id, network, height, hash) do nothing
      returning 1
    ), deleted as (
      delete from final_block b
      where b.merchant_id = ${merchantId} and b.network = ${network} and b.replaced_at is null
        and b.height < (select min(newer.height) from (
          select n.height from final_block n
          where n.merchant_id = ${merchantId} and n.network = ${network} and n.replaced_at is null
          order by n.height desc limit ${KEPT_MAX - 1}::int) as newer)
    )
    select exists (select from recorded) as "isRecorded"`.execute(db);
  return rows[0]?.isRecorded === true;
}

/**
 * Marks these blocks, and every recorded block from the lowest of them on: a hash covers all blocks before it, so those belong
 * to the replaced chain as well.
 *
 * @returns how many of these were not marked before; if none, nothing was marked
 */
export async function markReplaced(
  tx: Tx,
  { merchantId, network }: MerchantNetwork,
  blocks: readonly FinalBlock[],
  nowSeconds: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update final_block b set replaced_at = ${nowSeconds}::bigint
    from ${listed('r', blocks, { height: ['bigint', (block) => block.height], hash: ['text', (block) => block.hash] })}
    where b.merchant_id = ${merchantId} and b.network = ${network} and b.height = r.height and b.hash = r.hash
      and b.replaced_at is null`.execute(tx);
  const marked = Number(numAffectedRows ?? 0);
  // Each statement sees what was recorded until it waited for a lock of the one before.
  for (let more = marked; more > 0; ) {
    const later = await sql`
      update final_block set replaced_at = ${nowSeconds}::bigint
      where merchant_id = ${merchantId} and network = ${network} and replaced_at is null
        and height >= any(${blocks.map(({ height }) => height)}::bigint[])`.execute(tx);
    more = Number(later.numAffectedRows ?? 0);
  }
  return marked;
}

/** Blocks of a network that were replaced and not compared with the books yet. */
export interface ReplacedBlocks {
  lowest: bigint;
  highest: bigint;
  /** The newest recorded block below them that was not replaced; null where none is recorded. */
  intact: bigint | null;
}

export async function findReplacedBlocks(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<ReplacedBlocks | undefined> {
  const { rows } = await sql<{ lowest: bigint | null; highest: bigint; intact: bigint | null }>`
    with marked as (
      select min(height) as lowest, max(height) as highest from final_block
      where merchant_id = ${merchantId} and network = ${network} and replaced_at is not null
    )
    select m.lowest, m.highest, (
      select max(b.height) from final_block b
      where b.merchant_id = ${merchantId} and b.network = ${network} and b.replaced_at is null and b.height < m.lowest
    ) as intact from marked m`.execute(db);
  const [row] = rows;
  return row === undefined || row.lowest === null ? undefined : { ...row, lowest: row.lowest };
}

/** Called once the blocks that replaced these were compared with the books. */
export async function deleteReplacedBlocks(
  db: Db,
  { merchantId, network }: MerchantNetwork,
  { lowest, highest }: ReplacedBlocks,
): Promise<void> {
  await sql`
    delete from final_block
    where merchant_id = ${merchantId} and network = ${network} and replaced_at is not null
      and height between ${lowest} and ${highest}`.execute(db);
}
