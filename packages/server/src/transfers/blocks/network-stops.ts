import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { networkStoppedJob } from '../../mail/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
import { Fail } from '../../platform/fail.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';
import '../tables.ts';

// Our rules do not hold on a chain that takes back final blocks, so nothing new is sent on it until an operator resumes it.
// Live merchants share the chains, so a stop concerns all of them; each sandbox merchant has chains of its own.

interface Owner {
  merchantId: string;
  mode: MerchantMode;
}

const chainOf = ({ merchantId, mode }: Owner) => (mode === 'live' ? NIL_ID : merchantId);

/** What stops: every new transaction, or only credit before blocks are final. */
export type Stopped = 'sending' | 'early_credit';

interface Cause {
  what: Stopped;
  reason: string;
  /** The lowest block that it is about. */
  height?: bigint | undefined;
  nowSeconds: number;
  nowMs: number;
}

/** Causes are read by people: what does not fit is counted. */
const REASON_MAX = 1_000;

/**
 * Stops a network, and tells the merchant whose money found it. One that is stopped keeps this cause beside those of
 * before, so that nobody resumes it for the first one alone.
 *
 * @returns false where it was stopped already
 */
export async function stopNetwork(
  tx: Tx,
  owner: Owner,
  network: Network,
  { what, reason, height, nowSeconds, nowMs }: Cause,
): Promise<boolean> {
  const { rows } = await sql<{ causes: number }>`
    insert into network_stop as known (merchant_id, network, what, reason, height, stopped_at)
    values (${chainOf(owner)}, ${network}, ${what}, ${reason}, ${height ?? null}, ${nowSeconds})
    on conflict (merchant_id, network, what) do update set
      causes = known.causes + 1,
      reason = case when strpos(known.reason, excluded.reason) > 0 then known.reason
                    else left(known.reason || '; ' || excluded.reason, ${REASON_MAX}) end,
      height = least(known.height, excluded.height),
      last_at = excluded.stopped_at
    returning causes`.execute(tx);
  if (rows[0]?.causes !== 1) return false;
  if (what === 'sending')
    await enqueue(tx, [
      networkStoppedJob(owner.merchantId, { network, reason, stoppedAt: nowSeconds }, nowMs),
    ]);
  return true;
}

const findStop = async (db: Db, owner: Owner, network: Network, what: Stopped): Promise<boolean> => {
  const { rows } = await prepared`
    select from network_stop
    where merchant_id = ${chainOf(owner)} and network = ${network} and what = ${what}`.execute(db);
  return rows.length > 0;
};

export const isStopped = (db: Db, owner: Owner, network: Network) => findStop(db, owner, network, 'sending');

export const isEarlyCreditStopped = (db: Db, owner: Owner, network: Network) =>
  findStop(db, owner, network, 'early_credit');

export async function listStops(
  db: Db,
  { network, owner }: { network?: Network; owner?: Owner | undefined } = {},
) {
  let stops = db.selectFrom('network_stop').selectAll();
  if (network !== undefined) stops = stops.where('network', '=', network);
  if (owner !== undefined) stops = stops.where('merchant_id', '=', chainOf(owner));
  return await stops.orderBy('network').orderBy('merchant_id').orderBy('what').execute();
}

export type NetworkStop = Awaited<ReturnType<typeof listStops>>[number];

/** What tells a stop from every other one, also from the same one with another cause. */
export const stopKeyOf = ({ merchant_id: chain, network, what, stopped_at: at, causes }: NetworkStop) =>
  `${chain} ${network} ${what}:${at}:${causes}`;

/** Ends these stops as they were seen, and none that came after them. @returns how many still were */
export async function endStops(db: Db, stops: readonly NetworkStop[]): Promise<number> {
  let ended = 0n;
  for (const { merchant_id: chain, network, what, stopped_at: at, causes } of stops) {
    const { numDeletedRows } = await db
      .deleteFrom('network_stop')
      .where('merchant_id', '=', chain)
      .where('network', '=', network)
      .where('what', '=', what)
      .where('stopped_at', '=', at)
      .where('causes', '=', causes)
      .executeTakeFirst();
    ended += numDeletedRows;
  }
  return Number(ended);
}

/** Ends these stops as they were seen, all or none. @throws Fail `conflict` where one has another cause by now, or is over */
export async function endAllStops(tx: Tx, stops: readonly NetworkStop[]): Promise<number> {
  const ended = await endStops(tx, stops);
  if (ended === stops.length) return ended;
  const networks = new Set(stops.map(({ network }) => network));
  throw new Fail(
    'conflict',
    `Meanwhile another cause stopped ${[...networks].join(', ')}, or it was resumed: look at it again. Nothing was done.`,
  );
}
