import type { Db, Tx } from '../../platform/db.ts';
import { FIRST_HEIGHT } from './block-clock.ts';
import type { ChainId } from './tables.ts';

export interface ChainRow {
  genesis_at: bigint;
  height_offset: bigint;
  settled_height: bigint;
  settled_at: bigint;
  next_arrival: bigint;
  next_transfer: bigint;
  outage_until: bigint;
  drop_next: number;
  faults: string[];
  lag_blocks: bigint;
}

const CHAIN_COLUMNS = [
  'genesis_at',
  'height_offset',
  'settled_height',
  'settled_at',
  'next_arrival',
  'next_transfer',
  'outage_until',
  'drop_next',
  'faults',
  'lag_blocks',
] as const;
export function findChain(db: Db, { merchantId, network }: ChainId): Promise<ChainRow | undefined> {
  return db
    .selectFrom('simchain.chain')
    .select(CHAIN_COLUMNS)
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .executeTakeFirst();
}

/** The chain's row, locked: the first touch of a chain makes it. */
export async function lockChain(tx: Tx, { merchantId, network }: ChainId, now: number): Promise<ChainRow> {
  const lock = () =>
    tx
      .selectFrom('simchain.chain')
      .select(CHAIN_COLUMNS)
      .where('merchant_id', '=', merchantId)
      .where('network', '=', network)
      .forUpdate();
  const found = await lock().executeTakeFirst();
  if (found !== undefined) return found;
  await tx
    .insertInto('simchain.chain')
    .values({
      merchant_id: merchantId,
      network,
      genesis_at: now,
      settled_height: FIRST_HEIGHT,
      settled_at: now,
    })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'network']).doNothing())
    .execute();
  return lock().executeTakeFirstOrThrow();
}

export async function updateChain(
  tx: Tx,
  { merchantId, network }: ChainId,
  changes: Partial<ChainRow>,
): Promise<void> {
  await tx
    .updateTable('simchain.chain')
    .set(changes)
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .execute();
}
