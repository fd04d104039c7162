import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
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
  /** Reorganisations so far. */
  forks: number;
  /** The lowest fee that blocks take, where transactions have sequences. */
  fee_floor: bigint;
  /** Why nothing is signed at the moment. */
  signing_held: string | null;
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
  'forks',
  'fee_floor',
  'signing_held',
] as const;
const COLUMNS = sql.raw(CHAIN_COLUMNS.join(', '));

/** A position among the transfers of a chain. */
export interface TransferPosition {
  height: bigint;
  number: bigint;
}

/** A position after every transfer. */
export const AFTER_EVERYTHING: TransferPosition = { height: 10n ** 18n, number: 0n };

export interface ChainSnapshot extends ChainRow {
  /** The mempool is not empty. */
  has_mempool: boolean;
  /** There are transfers after the position. */
  has_more: boolean;
}

/** Reads the chain's row, and in the same statement whether anything has happened, which mostly it has not. */
export async function findChain(
  db: Db,
  { merchantId, network }: ChainId,
  { height, number }: TransferPosition,
): Promise<ChainSnapshot | undefined> {
  const { rows } = await prepared<ChainSnapshot>`
    select ${COLUMNS},
      exists (select from simchain.transaction t
        where t.merchant_id = c.merchant_id and t.network = c.network and t.state = 'mempool') as has_mempool,
      exists (select from simchain.transfer t
        where t.merchant_id = c.merchant_id and t.network = c.network
          and (t.height, t.number) > (${height}::int8, ${number}::int8)) as has_more
    from simchain.chain c where c.merchant_id = ${merchantId} and c.network = ${network}`.execute(db);
  return rows[0];
}

/** Locks the chain's row; the first call for a chain inserts it. */
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
