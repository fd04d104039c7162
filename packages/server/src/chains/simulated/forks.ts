import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { updateChain } from './chain-queries.ts';
import type { ChainId } from './tables.ts';

// A block has no row, so its hash is derived from its chain, its height and the reorganisation that made it: the newest
// one that kept only blocks below it.

/** Records that the blocks above a height were replaced. */
export async function addFork(
  tx: Tx,
  id: ChainId,
  { forks, kept }: { forks: number; kept: bigint },
): Promise<void> {
  const number = forks + 1;
  const key = { merchant_id: id.merchantId, network: id.network };
  await tx
    .insertInto('simchain.fork')
    .values({ ...key, number, kept_height: kept })
    .execute();
  await updateChain(tx, id, { forks: number });
}

/** @param forks number of reorganisations so far; with 0, as for most chains, no query is needed */
export async function hashesOf(
  db: Db,
  id: ChainId,
  { heights, forks }: { heights: readonly bigint[]; forks: number },
): Promise<Map<bigint, string>> {
  const makers =
    forks === 0 || heights.length === 0 ? new Map<bigint, number>() : await findMakers(db, id, heights);
  return new Map(heights.map((height) => [height, hashOf(id, height, makers.get(height) ?? 0)]));
}

async function findMakers(db: Db, id: ChainId, heights: readonly bigint[]): Promise<Map<bigint, number>> {
  const { rows } = await sql<{ height: bigint; number: number | null }>`
    select h.height, (select max(f.number) from simchain.fork f
      where f.merchant_id = ${id.merchantId} and f.network = ${id.network} and f.kept_height < h.height) as number
    from unnest(${heights}::bigint[]) as h (height)`.execute(db);
  return new Map(rows.map(({ height, number }) => [height, number ?? 0]));
}

function hashOf({ merchantId, network }: ChainId, height: bigint, fork: number): string {
  return createHash('sha256').update(`${merchantId} ${network} ${height} ${fork}`).digest('hex');
}
