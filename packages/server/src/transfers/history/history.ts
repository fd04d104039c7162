import { sql } from 'kysely';
import type { ChainOwner, ChainRegistry } from '../../chains/index.ts';
import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { restartNumbers } from '../wallets/wallet-queries.ts';
// Stored with the settings of the installation, as it is one value of the installation too.
import '../../tenancy/index.ts';

// A promoted replica may lack the newest commits, and a restored backup everything since it was made, while the chain has
// seen those transfers: sending them from such a copy would pay twice. Two checks detect a copy:
// - the database stores the identity of the database that may send; copies carry it along and do not match it;
// - the holder of the wallets signs for one history of the database, and for each number of a wallet's attempts once.
// The second also detects a copy of the files, which has the identity of the original (decision 24).

const NAME = 'transfers.history';
/** The history for which the holder of a wallet has refused to sign. */
const REFUSED = 'transfers.history_refused';

/**
 * The cluster and its timeline, which change with another cluster, a promotion or a point-in-time recovery; the oids of the
 * database and of one table, which change with a restored dump. A migration that recreates that table changes the identity.
 */
const IDENTITY = sql<string>`(select system_identifier from pg_control_system()) || '/'
  || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
  || (select oid from pg_database where datname = current_database()) || '/' || 'transfer_attempt'::regclass::oid`;

/** This database may be a copy that does not know everything that was sent. */
export class HistoryChanged extends Error {}

/** The history that this database may send for. */
interface StoredHistory {
  /** Its name for holders of wallets; new with the installation and with each adoption. */
  history: string;
  /** Identity of the database that may send for it. */
  identity: string;
  /** An adoption is not finished: some holders do not sign for it yet. */
  claiming?: true;
}

interface HistoryState {
  now: string;
  known: StoredHistory | null;
  refused: string | null;
}

async function readState(db: Db): Promise<HistoryState> {
  const { rows } = await sql<HistoryState>`
    select ${IDENTITY} as now,
      (select value from setting where merchant_id = ${NIL_ID} and name = ${NAME}) as known,
      (select value #>> '{}' from setting where merchant_id = ${NIL_ID} and name = ${REFUSED}) as refused`.execute(
    db,
  );
  if (rows[0] === undefined) throw new Error('reading the history of the database returned no row');
  return rows[0];
}

async function write(db: Db, name: string, value: unknown): Promise<void> {
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${name}, ${JSON.stringify(value)}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
}

/** Why nothing may be sent from this database; undefined where it may send. */
function findChange({ now, known, refused }: HistoryState): string | undefined {
  if (known === null) return undefined;
  if (known.identity !== now)
    return `transfers were sent from the database ${known.identity}, and this is ${now}`;
  if (known.claiming === true) return 'its adoption was not finished (florin ledger adopt-history)';
  if (known.history === refused)
    return `the holder of a wallet has refused to sign for the history ${refused}`;
  return undefined;
}

/** Records the first history of an installation; does nothing where there is one. */
export async function recordHistory(db: Db): Promise<void> {
  const { known, now } = await readState(db);
  if (known !== null) return;
  const first: StoredHistory = { history: newId(), identity: now };
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${NAME}, ${JSON.stringify(first)}::jsonb)
    on conflict (merchant_id, name) do nothing`.execute(db);
}

/**
 * Checks that this database may send. Called in each transaction that makes a new payment possible, so that the server
 * that commits it answers.
 *
 * @returns the name of the history, for the holder that signs
 * @throws HistoryChanged
 */
export async function assertSameHistory(db: Db): Promise<string> {
  const state = await readState(db);
  const change = findChange(state);
  if (change !== undefined) throw new HistoryChanged(change);
  if (state.known !== null) return state.known.history;
  await recordHistory(db);
  return await assertSameHistory(db);
}

/** Whether nothing new may be sent from the database. */
export async function hasHistoryChanged(db: Db): Promise<boolean> {
  return findChange(await readState(db)) !== undefined;
}

/** Records that a holder refused a history, as another copy of the database sends: nothing more is sent for it. */
export async function recordRefusal(db: Db, history: string): Promise<void> {
  await write(db, REFUSED, history);
}

/** Names the adoption that people vote on: the identity of this database and the history it follows. */
export async function historyToAdopt(db: Db): Promise<string> {
  const { now, known } = await readState(db);
  return `${now} after ${known?.history ?? 'none'}`;
}

/**
 * Lets this database send, under a new history that its copies do not have. `claimHolders` completes it.
 *
 * @throws Fail `conflict` where it may send already, or another adoption was voted on
 */
export async function decideAdoption(tx: Tx, adopted: string): Promise<void> {
  await sql`select from setting where merchant_id = ${NIL_ID} and name = ${NAME} for update`.execute(tx);
  const isSame = (await historyToAdopt(tx)) === adopted && (await hasHistoryChanged(tx));
  if (!isSame) throw new Fail('conflict', 'The history of the database was adopted meanwhile.');
  await restartNumbers(tx);
  const { now } = await readState(tx);
  await write(tx, NAME, { history: newId(), identity: now, claiming: true } satisfies StoredHistory);
}

/** Whether an adoption of this database was decided and is not claimed at all holders yet. */
export async function isAdoptionOpen(db: Db): Promise<boolean> {
  const { known, now } = await readState(db);
  return known?.claiming === true && known.identity === now;
}

/**
 * Claims the adopted history at every holder of wallets, and then lets it send. Idempotent: after an interruption it is
 * called again.
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
