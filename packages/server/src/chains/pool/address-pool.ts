import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { invariant } from '../../platform/fail.ts';
import type { DepositAddress } from '../port/port.ts';

declare module '../../platform/db/db.ts' {
  interface Tables {
    deposit_pool: { merchant_id: string; network: Network; filled_to: bigint };
    deposit_pool_address: {
      merchant_id: string;
      network: Network;
      address_index: bigint;
      address: string;
      watch: string;
    };
  }
}

/** The deposit addresses of a merchant on a network where the holder of the keys names them (`Chain.nameAddresses`). */
export interface PoolPlace {
  merchantId: string;
  network: Network;
}

/** Begins an empty pool where there is none. */
export async function openPool(tx: Tx, { merchantId, network }: PoolPlace): Promise<void> {
  const row = { merchant_id: merchantId, network, filled_to: 0n };
  await tx
    .insertInto('deposit_pool')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export interface PooledAddress {
  /** Undefined: the pool does not reach that far. */
  address: DepositAddress | undefined;
  /** The addresses with smaller numbers are stored. */
  filledTo: bigint;
}

/** Reads the address with that number. */
export async function findPooled(
  db: Db,
  { merchantId, network }: PoolPlace,
  index: bigint,
): Promise<PooledAddress> {
  const row = await db
    .selectFrom('deposit_pool as pool')
    .leftJoin('deposit_pool_address as one', (join) =>
      join
        .onRef('one.merchant_id', '=', 'pool.merchant_id')
        .onRef('one.network', '=', 'pool.network')
        .on('one.address_index', '=', index),
    )
    .select(['one.address', 'one.watch', 'pool.filled_to'])
    .where('pool.merchant_id', '=', merchantId)
    .where('pool.network', '=', network)
    .executeTakeFirst();
  if (row === undefined) return { address: undefined, filledTo: 0n };
  const { address, watch, filled_to: filledTo } = row;
  return { address: address === null || watch === null ? undefined : { address, watch }, filledTo };
}

/** How many addresses of a pool are stored. */
export async function readPool(db: Db, place: PoolPlace): Promise<bigint> {
  const { filledTo } = await findPooled(db, place, -1n);
  return filledTo;
}

/**
 * Stores named addresses, in order of their numbers. Repeated with the same ones it changes nothing.
 *
 * @param from the number of the first, of which the pool has all smaller ones
 * @throws Error where the pool has another address under one of these numbers, or one of these under another number
 */
export async function addToPool(
  tx: Tx,
  { merchantId, network }: PoolPlace,
  { from, addresses }: { from: bigint; addresses: readonly DepositAddress[] },
): Promise<void> {
  const named = addresses.map((one, i) => ({ ...one, address_index: from + BigInt(i) }));
  await openPool(tx, { merchantId, network });
  const to = from + BigInt(addresses.length);
  // First, as it locks the pool: two who add the same addresses at once would meet at a unique key that `on conflict` below does not name.
  const { rows: moved } = await sql`
    update deposit_pool set filled_to = greatest(filled_to, ${to}::bigint)
    where merchant_id = ${merchantId} and network = ${network} and filled_to >= ${from}::bigint
    returning filled_to`.execute(tx);
  invariant(
    moved.length === 1,
    `the pool of ${merchantId} on ${network} would have a gap before number ${from}`,
  );
  const rows = named.map((row) => ({ merchant_id: merchantId, network, ...row }));
  await tx
    .insertInto('deposit_pool_address')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'network', 'address_index']).doNothing())
    .execute();
  const stored = await tx
    .selectFrom('deposit_pool_address')
    .select(['address_index', 'address', 'watch'])
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('address_index', '>=', from)
    .where('address_index', '<', from + BigInt(addresses.length))
    .execute();
  const known = new Map(stored.map((row) => [row.address_index, row]));
  for (const { address_index: index, address, watch } of named) {
    const row = known.get(index);
    // Coins at one of them could be out of reach of whoever named the other.
    invariant(
      row?.address === address && row.watch === watch,
      `the holder of the keys of ${merchantId} names ${address} as number ${index} on ${network}, and ${row?.address} is stored`,
    );
  }
}
