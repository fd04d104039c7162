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
  /** Where it lends what it has staked: what it still can, and what others have. */
  stake?: { free: bigint; lent: bigint } | undefined;
  /** Unix seconds of real time. */
  readAt: number;
}

export async function storeTank(
  db: Db,
  { network, sender, native, stake, readAt }: TankReading,
): Promise<void> {
  const [free, lent] = stake === undefined ? [null, null] : [String(stake.free), String(stake.lent)];
  await sql`
    insert into gas_tank (network, sender, native, stake_free, stake_lent, read_at)
    values (${network}, ${sender}, ${String(native)}::numeric, ${free}::numeric, ${lent}::numeric, ${readAt})
    on conflict (network) do update set sender = excluded.sender, native = excluded.native,
      stake_free = excluded.stake_free, stake_lent = excluded.stake_lent, read_at = excluded.read_at`.execute(
    db,
  );
}

export async function listTanks(db: Db): Promise<TankReading[]> {
  const rows = await db.selectFrom('gas_tank').selectAll().orderBy('network').execute();
  return rows.map(({ network, sender, native, stake_free: free, stake_lent: lent, read_at: readAt }) => ({
    network,
    sender,
    native: BigInt(native),
    stake: free === null || lent === null ? undefined : { free: BigInt(free), lent: BigInt(lent) },
    readAt: Number(readAt),
  }));
}
