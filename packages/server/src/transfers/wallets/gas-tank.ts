import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import '../tables.ts';

/** The gas tank of a network as a worker has read it. */
export interface TankReading {
  network: Network;
  sender: string;
  /** In the smallest unit of the network's own coin. */
  native: bigint;
  /** Unix seconds of real time. */
  readAt: number;
}

export async function storeTank(db: Db, { network, sender, native, readAt }: TankReading): Promise<void> {
  await sql`
    insert into gas_tank (network, sender, native, read_at)
    values (${network}, ${sender}, ${String(native)}::numeric, ${readAt})
    on conflict (network) do update set sender = excluded.sender, native = excluded.native, read_at = excluded.read_at`.execute(
    db,
  );
}

export async function listTanks(db: Db): Promise<TankReading[]> {
  const rows = await db.selectFrom('gas_tank').selectAll().orderBy('network').execute();
  return rows.map(({ network, sender, native, read_at: readAt }) => ({
    network,
    sender,
    native: BigInt(native),
    readAt: Number(readAt),
  }));
}
