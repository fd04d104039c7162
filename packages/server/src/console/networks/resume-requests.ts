import { createHash } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import { type Db, type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { endAllStops, listStops, type NetworkStop, stopKeyOf } from '../../transfers/blocks/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { type Present, type ResumeRequest, refusalOf, statusOf } from './decide.ts';
import type { ResumeRequestRow } from './tables.ts';

type Deps = Pick<ConsoleDeps, 'db' | 'clock'>;

/** Digest of stops: two are equal only where the same was found at the same time. */
export const digestOf = (stops: readonly NetworkStop[]): string =>
  createHash('sha256')
    .update(JSON.stringify(stops.map((stop) => [stopKeyOf(stop), stop.reason])))
    .digest('hex');

const requestOf = (row: ResumeRequestRow): ResumeRequest => ({
  requestId: row.request_id,
  requestedBy: row.requested_by,
  reason: row.reason,
  seen: row.seen,
  createdAtMs: Number(row.created_at_ms),
});

async function findRequest(db: Db, network: Network): Promise<ResumeRequest | undefined> {
  const row = await db
    .selectFrom('network_resume_request')
    .selectAll()
    .where('merchant_id', '=', NIL_ID)
    .where('network', '=', network)
    .executeTakeFirst();
  return row && requestOf(row);
}

/** The requests of all networks, with what became of them. */
export async function listRequests(db: Db): Promise<(ResumeRequest & { network: Network })[]> {
  const rows = await db.selectFrom('network_resume_request').selectAll().execute();
  return rows.map((row) => ({ ...requestOf(row), network: row.network }));
}

/** Stops of all live merchants, and nobody's role or stop there changes until commit. */
async function lockStops(tx: Tx, network: Network, nowMs: number) {
  const operators = await users.lockOperators(tx);
  await sql`
    select from network_stop where merchant_id = ${NIL_ID} and network = ${network} order by what for update`.execute(
    tx,
  );
  const stops = (await listStops(tx, { network })).filter(({ merchant_id: chain }) => chain === NIL_ID);
  if (stops.length === 0) throw new Fail('conflict', `${network} is not stopped any more.`);
  const present: Present = { seen: digestOf(stops), operators, nowMs };
  return { stops, present };
}

const changed = (network: Network) =>
  new Fail('conflict', `${network} has stopped again since you looked. Look at it again.`);

/**
 * Asks another operator to resume a network for all live merchants. The same person who asks again for the same stops with
 * the same reason gets the request of before; with another reason it is another request.
 *
 * @param seen digest of the stops that the person has looked at
 * @throws Fail `conflict` where it stopped again since, or is stopped no more, or somebody else has asked: confirm that
 */
export async function requestResume(
  { db, clock }: Deps,
  { network, userId, reason, seen }: { network: Network; userId: string; reason: string; seen: string },
): Promise<string> {
  const nowMs = clock.nowMs();
  return await transact(db, async (tx) => {
    const { present } = await lockStops(tx, network, nowMs);
    if (seen !== present.seen) throw changed(network);
    const before = await findRequest(tx, network);
    if (before !== undefined && statusOf(before, present) === 'open') {
      if (before.requestedBy === userId && before.reason === reason) return before.requestId;
      if (before.requestedBy !== userId)
        throw new Fail('conflict', 'Another operator has asked for this already: confirm or withdraw that.');
    }
    const request_id = newId();
    await deleteRequest(tx, network);
    await tx
      .insertInto('network_resume_request')
      .values({
        merchant_id: NIL_ID,
        network,
        request_id,
        requested_by: userId,
        reason,
        seen,
        created_at_ms: nowMs,
      })
      .execute();
    return request_id;
  });
}

const deleteRequest = async (tx: Tx, network: Network) =>
  await tx
    .deleteFrom('network_resume_request')
    .where('merchant_id', '=', NIL_ID)
    .where('network', '=', network)
    .execute();

/**
 * Resumes a network for all live merchants, as another operator has asked.
 *
 * @throws Fail `conflict` where the request or the stops are not those that the person has looked at
 */
export async function confirmResume(
  { db, clock }: Deps,
  { network, ...by }: { network: Network; userId: string; requestId: string; seen: string },
): Promise<void> {
  const nowMs = clock.nowMs();
  await transact(db, async (tx) => {
    const { stops, present } = await lockStops(tx, network, nowMs);
    const refusal = refusalOf(await findRequest(tx, network), by, present);
    if (refusal !== undefined) throw new Fail('conflict', refusal);
    await endAllStops(tx, stops);
    await deleteRequest(tx, network);
  });
}

/** Takes a request back: one's own, or somebody else's that one refuses. @throws Fail `conflict` where it is over */
export async function withdrawRequest(
  { db }: Deps,
  { network, requestId }: { network: Network; requestId: string },
): Promise<void> {
  await transact(db, async (tx) => {
    // Nobody confirms it at this moment.
    await users.lockOperators(tx);
    const { numDeletedRows } = await tx
      .deleteFrom('network_resume_request')
      .where('merchant_id', '=', NIL_ID)
      .where('network', '=', network)
      .where('request_id', '=', requestId)
      .executeTakeFirst();
    if (numDeletedRows !== 1n) throw new Fail('conflict', 'This request is over already.');
  });
}

/**
 * Resumes the chain of one sandbox merchant, where no money waits: one person is enough.
 *
 * @throws Fail `conflict` where it stopped again since the person looked, or is stopped no more
 */
export async function resumeSandbox(
  { db }: Deps,
  { merchantId, network, seen }: { merchantId: string; network: Network; seen: string },
): Promise<void> {
  await transact(db, async (tx) => {
    const all = await listStops(tx, { network });
    const stops = all.filter(({ merchant_id: chain }) => chain === merchantId && chain !== NIL_ID);
    if (stops.length === 0) throw new Fail('conflict', `${network} is not stopped any more.`);
    if (digestOf(stops) !== seen) throw changed(network);
    await endAllStops(tx, stops);
  });
}
