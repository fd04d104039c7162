import { sql } from 'kysely';
import type { ChainOwner, ChainRegistry } from '../chains/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { NIL_ID, newId } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { restartNumbers } from './wallet-queries.ts';
// Kept where the installation's settings lie, as it is one value of the installation too.
import '../tenancy/index.ts';

// A replica that took over may lack the newest commits, and a backup all since it was made, while the chain has seen
// what they sent: to send what this database holds to be unsent would pay it twice. Two things tell a copy:
// - the identity of the database that may send is kept in it, so that it travels with copies and is wrong in them;
// - whoever holds the wallets signs for one history of the database, and each number of a wallet's attempts once.
// The second also finds a copy of files, which has the identity of the original (decision 24).

const NAME = 'transfers.history';
/** The history for which the wallets' holder has refused to sign. */
const REFUSED = 'transfers.history_refused';

/**
 * The cluster and its timeline, which differ in another cluster and after a promotion or a point-in-time recovery; the
 * database and one of its tables, which differ in a restored dump. A migration that makes that table anew changes it.
 */
const IDENTITY = sql<string>`(select system_identifier from pg_control_system()) || '/'
  || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
  || (select oid from pg_database where datname = current_database()) || '/' || 'transfer_attempt'::regclass::oid`;

/** This database is not, or may not be, the one that knows all that was sent. */
export class HistoryChanged extends Error {}

/** The history that may be sent from. */
interface Known {
  /** Made when the installation begins, and by each adoption: wallets' holders know it by this. */
  history: string;
  /** Of the database that may send for it. */
  identity: string;
  /** An adoption has begun: not all holders sign for it yet. */
  claiming?: true;
}

interface State {
  now: string;
  known: Known | null;
  refused: string | null;
}

async function readState(db: Db): Promise<State> {
  const { rows } = await sql<State>`
    select ${IDENTITY} as now,
      (select value from setting where merchant_id = ${NIL_ID} and name = ${NAME}) as known,
      (select value #>> '{}' from setting where merchant_id = ${NIL_ID} and name = ${REFUSED}) as refused`.execute(
    db,
  );
  if (rows[0] === undefined) throw new Error('the database does not say which history it has');
  return rows[0];
}

async function write(db: Db, name: string, value: unknown): Promise<void> {
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${name}, ${JSON.stringify(value)}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
}

/** Why nothing may be sent from a database; undefined: it may. */
function findChange({ now, known, refused }: State): string | undefined {
  if (known === null) return undefined;
  if (known.identity !== now)
    return `transfers were sent from the database ${known.identity}, and this is ${now}`;
  if (known.claiming === true) return 'its adoption was not finished (florin ledger adopt-history)';
  if (known.history === refused)
    return `the holder of a wallet has refused to sign for the history ${refused}`;
  return undefined;
}

/** Notes the history of an installation that has sent nothing yet. */
export async function noteHistory(db: Db): Promise<void> {
  const { known, now } = await readState(db);
  if (known !== null) return;
  const first: Known = { history: newId(), identity: now };
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${NAME}, ${JSON.stringify(first)}::jsonb)
    on conflict (merchant_id, name) do nothing`.execute(db);
}

/**
 * Called in each transaction that makes a new payment possible, so that it is asked of the server that commits it.
 *
 * @returns the name of the history, for whoever signs
 * @throws HistoryChanged
 */
export async function assertSameHistory(db: Db): Promise<string> {
  const state = await readState(db);
  const change = findChange(state);
  if (change !== undefined) throw new HistoryChanged(change);
  if (state.known !== null) return state.known.history;
  await noteHistory(db);
  return await assertSameHistory(db);
}

/** Whether nothing new may be sent from the database. */
export async function hasHistoryChanged(db: Db): Promise<boolean> {
  return findChange(await readState(db)) !== undefined;
}

/** From now on nothing more is sent for a history that a holder refused: another copy of the database sends. */
export async function noteRefusal(db: Db, history: string): Promise<void> {
  await write(db, REFUSED, history);
}

/** The history that an adoption takes over, as one text that no copy shares: what people decide of. */
export async function historyToAdopt(db: Db): Promise<string> {
  const { now, known } = await readState(db);
  return `${now} after ${known?.history ?? 'none'}`;
}

/**
 * Decides that this database may send: under a new name, which its copies do not have. `claimHolders` carries it out.
 *
 * @throws Fail `conflict` where it may send already, or another history was to be adopted
 */
export async function decideAdoption(tx: Tx, adopted: string): Promise<void> {
  await sql`select from setting where merchant_id = ${NIL_ID} and name = ${NAME} for update`.execute(tx);
  const isSame = (await historyToAdopt(tx)) === adopted && (await hasHistoryChanged(tx));
  if (!isSame) throw new Fail('conflict', 'The history of the database was adopted meanwhile.');
  await restartNumbers(tx);
  const { now } = await readState(tx);
  await write(tx, NAME, { history: newId(), identity: now, claiming: true } satisfies Known);
}

/** Whether an adoption of this very database was decided and not all holders have heard of it. */
export async function isAdoptionOpen(db: Db): Promise<boolean> {
  const { known, now } = await readState(db);
  return known?.claiming === true && known.identity === now;
}

/**
 * Has all wallets' holders sign for the history that was decided on, and lets it send. Broken off, it is called again.
 *
 * @throws Fail `conflict` where another database is being adopted at the same time
 */
export async function claimHolders(
  db: Db,
  chains: ChainRegistry,
  merchants: readonly ChainOwner[],
): Promise<void> {
  const { known } = await readState(db);
  if (known === null) return;
  const { history } = known;
  for (const merchant of merchants) {
    const holder = chains.holder(merchant);
    const held = await holder?.current();
    if (holder === undefined || held?.history === history) continue;
    if (await holder.claim(history, held?.generation ?? 0n)) continue;
    throw new Fail('conflict', 'Another database is being adopted at the same time, or sends: only one may.');
  }
  await sql`
    update setting set value = value - 'claiming'
    where merchant_id = ${NIL_ID} and name = ${NAME} and value ->> 'history' = ${history}`.execute(db);
}
