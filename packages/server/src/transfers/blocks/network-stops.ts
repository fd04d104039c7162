import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { networkStoppedJob } from '../../mail/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
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

/** Stops a network, and tells the merchants whose sending it stops. @returns false where it was stopped already */
export async function stopNetwork(
  tx: Tx,
  owner: Owner,
  network: Network,
  { what, reason, nowSeconds, nowMs }: { what: Stopped; reason: string; nowSeconds: number; nowMs: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into network_stop (merchant_id, network, what, reason, stopped_at)
    values (${chainOf(owner)}, ${network}, ${what}, ${reason}, ${nowSeconds})
    on conflict (merchant_id, network, what) do nothing`.execute(tx);
  if (numAffectedRows !== 1n) return false;
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

type NetworkStop = Awaited<ReturnType<typeof listStops>>[number];

/** Ends these stops, and none that came after them. @returns how many still were */
export async function endStops(db: Db, stops: readonly NetworkStop[]): Promise<number> {
  let ended = 0n;
  for (const { merchant_id: chain, network, what, stopped_at: at } of stops) {
    const { numDeletedRows } = await db
      .deleteFrom('network_stop')
      .where('merchant_id', '=', chain)
      .where('network', '=', network)
      .where('what', '=', what)
      .where('stopped_at', '=', at)
      .executeTakeFirst();
    ended += numDeletedRows;
  }
  return Number(ended);
}
