import type { DatabaseServer } from './database-server.ts';

/** Found before the real ones by every later session, whose search path names their schema first. */
const SHIFTED = `
  create schema shifted;
  create table shifted.clock (ahead interval not null, stands_at timestamptz);
  insert into shifted.clock values ('0 s', null);
  create function shifted.clock_timestamp() returns timestamptz language sql security definer as
    'select coalesce(stands_at, pg_catalog.clock_timestamp() + ahead) from shifted.clock';
  create function shifted.statement_timestamp() returns timestamptz stable language sql security definer as
    'select coalesce(stands_at, pg_catalog.statement_timestamp() + ahead) from shifted.clock';
  grant usage on schema shifted to public;
  alter database postgres set search_path = shifted, "$user", public, pg_catalog`;

/** A database whose clock can be set, for all that the service asks of it. Call it before a node connects. */
export async function makeClockSettable(database: DatabaseServer): Promise<void> {
  await database.query(SHIFTED);
}

export async function setDatabaseClock(database: DatabaseServer, aheadSeconds: number): Promise<void> {
  await database.query(`update shifted.clock set ahead = $1::int * interval '1 s', stands_at = null`, [
    aheadSeconds,
  ]);
}

/** It stands still as of now. */
export async function freezeDatabaseClock(database: DatabaseServer): Promise<void> {
  await database.query('update shifted.clock set stands_at = pg_catalog.clock_timestamp() + ahead');
}
