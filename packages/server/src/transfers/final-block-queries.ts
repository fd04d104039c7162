import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { listed, prepared } from '../platform/db/index.ts';
import './tables.ts';

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

/** Recorded final blocks, newest first. */
export async function listFinalBlocks(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<FinalBlock[]> {
  const { rows } = await prepared<FinalBlock>`
    select height, hash from final_block
    where merchant_id = ${merchantId} and network = ${network} and replaced_at is null
    order by height desc`.execute(db);
  return rows;
}

/** Records a final block and deletes the oldest beyond eight. */
export async function recordFinalBlock(
  db: Db,
  { merchantId, network }: MerchantNetwork,
  { height, hash }: FinalBlock,
): Promise<void> {
  await prepared`
    with noted as (
      insert into final_block (merchant_id, network, height, hash)
      values (${merchantId}, ${network}, ${height}, ${hash})
      on conflict (merchant_id, network, height) do nothing
    )
    delete from final_block b
    where b.merchant_id = ${merchantId} and b.network = ${network} and b.replaced_at is null
      and b.height < (select min(newest.height) from (
        select n.height from final_block n
        where n.merchant_id = ${merchantId} and n.network = ${network} and n.replaced_at is null
        order by n.height desc limit ${KEPT_MAX - 1}::int) as newest)`.execute(db);
}

/** @returns how many of these were not marked before */
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
  return Number(numAffectedRows ?? 0);
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
