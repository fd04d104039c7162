import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db.ts';
import { NIL_ID } from '../platform/ids.ts';
// Kept where the installation's settings lie, as it is one value of the installation too.
import '../platform/settings.ts';

// A replica that took over may lack the newest commits, and a backup all since it was made, while the chain has seen
// what they sent: to send what this database holds to be unsent would pay it twice. PostgreSQL gives each such course of
// events a number of its own (the timeline). The one that money may be sent from is kept in the database, so that it
// travels with its copies and is wrong in each of them.

const NAME = 'transfers.history';

/** A replica or a backup has become the database: nobody knows whether it lacks what was sent. */
export class HistoryChanged extends Error {
  constructor(known: string, now: string) {
    super(`payouts were sent from the database's history ${known}, and this is ${now}`);
  }
}

interface History {
  now: string;
  known: string | null;
}

async function readHistory(db: Db): Promise<History> {
  const { rows } = await sql<History>`
    select (select value #>> '{}' from setting where merchant_id = ${NIL_ID} and name = ${NAME}) as known,
           (select system_identifier from pg_control_system()) || '/'
             || left(pg_walfile_name(pg_current_wal_lsn()), 8) as now`.execute(db);
  if (rows[0] === undefined) throw new Error('the database does not say which history it has');
  return rows[0];
}

/** Notes the history of an installation that has sent nothing yet. */
export async function noteHistory(db: Db): Promise<void> {
  const { known, now } = await readHistory(db);
  if (known !== null) return;
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${NAME}, to_jsonb(${now}::text))
    on conflict (merchant_id, name) do nothing`.execute(db);
}

/**
 * Called in each transaction that makes a new payment possible, so that it is asked of the server that commits it.
 *
 * @throws HistoryChanged
 */
export async function assertSameHistory(tx: Tx): Promise<void> {
  const { known, now } = await readHistory(tx);
  if (known === null) await noteHistory(tx);
  else if (known !== now) throw new HistoryChanged(known, now);
}

/** Whether the database has another history than the one that payouts were sent from. */
export async function hasHistoryChanged(db: Db): Promise<boolean> {
  const { known, now } = await readHistory(db);
  return known !== null && known !== now;
}

/** Lets payouts be sent from this database. @returns false when they already may */
export async function adoptHistory(db: Db): Promise<boolean> {
  const { known, now } = await readHistory(db);
  if (known === now) return false;
  await sql`
    insert into setting (merchant_id, name, value) values (${NIL_ID}, ${NAME}, to_jsonb(${now}::text))
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
  return true;
}
