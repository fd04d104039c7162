import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import type { AttemptStatus, TransferStatus } from './states.ts';
import './tables.ts';

export interface TransferHealth {
  byStatus: ReadonlyMap<TransferStatus, number>;
  /** When the oldest transfer without a transaction was ordered; undefined where there is none. */
  queuedSince: number | undefined;
  /** Attempts that the chain has not decided, by status. */
  undecided: readonly { status: AttemptStatus; count: number; oldestCreatedAt: number }[];
}

/** Counts transfers over all merchants. Reads the whole table: for metrics, not for requests. */
export async function transferHealth(db: Db): Promise<TransferHealth> {
  const transfers = await sql<{ status: TransferStatus; count: bigint; oldest: bigint }>`
    select status, count(*) as count, min(created_at) as oldest from transfer group by status`.execute(db);
  const attempts = await sql<{ status: AttemptStatus; count: bigint; oldest: bigint }>`
    select status, count(*) as count, min(created_at) as oldest from transfer_attempt
    where status in ('reserved', 'signed', 'sent') group by status`.execute(db);
  const queued = transfers.rows.find((row) => row.status === 'queued');
  return {
    queuedSince: queued && Number(queued.oldest),
    byStatus: new Map(transfers.rows.map(({ status, count }) => [status, Number(count)])),
    undecided: attempts.rows.map(({ status, count, oldest }) => ({
      status,
      count: Number(count),
      oldestCreatedAt: Number(oldest),
    })),
  };
}
