import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { transact } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { SEND_JOB } from '../request-transfers.ts';

/**
 * Has the last group of each address that has something of the gas tank look after it: a copy of the database that came back lacks what
 * was lent after it was made. A group that is at work goes on as it is.
 *
 * @returns the addresses that no transfer of ours has left
 */
export async function wakeBorrowers(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  network: Network,
  borrowers: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ sender: string; merchant_id: string; group_id: string }>`
    select distinct on (a.sender) a.sender, a.merchant_id, a.group_id
    from chain_account c
    join transfer_attempt a on a.merchant_id = c.merchant_id and a.network = ${network}
      and a.sender = any(${borrowers}::text[]) and a.ordinal is not null
    where c.network = ${network}
    order by a.sender, a.ordinal desc`.execute(db);
  const dueAtMs = clock.nowMs();
  const jobs = rows.map(({ merchant_id: merchantId, group_id: groupId }) => ({
    merchantId,
    kind: SEND_JOB,
    uniqueKey: groupId,
    dueAtMs,
    followsClock: true,
    payload: { groupId },
  }));
  if (jobs.length > 0) await transact(db, (tx) => enqueue(tx, jobs));
  const known = new Set(rows.map(({ sender }) => sender));
  return borrowers.filter((address) => !known.has(address));
}
