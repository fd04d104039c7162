import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase } from '../../../../../../test/database.ts';
import { connect } from '../db.ts';
import { findServiceRole, grantServiceRights } from './service-role.ts';

const KEPT = ['ledger_entry'];
const DENIED = '42501';

let url: string;
let closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  const database = await createDatabase();
  url = database.url;
  closing = [() => database.drop()];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

async function query(at: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: at });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A login of its own, to whom the database and all its tables belong: an operator's user. */
async function ownedBy(attributes: string): Promise<string> {
  const name = `operator_${randomBytes(4).toString('hex')}`;
  const database = new URL(url).pathname.slice(1);
  await query(
    url,
    `create role ${name} login password 'secret' ${attributes}`,
    `alter database ${database} owner to ${name}`,
    `do $$ declare t regclass; begin
       for t in select c.oid from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
       loop execute format('alter table %s owner to ${name}', t); end loop;
     end $$`,
  );
  closing.push(() => query(inject('postgresUrl'), `alter database ${database} owner to current_user`));
  const own = new URL(url);
  own.username = name;
  own.password = 'secret';
  return own.href;
}

/** SQLSTATE of a statement run as the service would run it, or `done`. */
async function outcome(at: string, statement: string): Promise<string> {
  const { role } = await findServiceRole(at, KEPT);
  const options = role === undefined ? '' : `-c role=${role}`;
  const client = new pg.Client({ connectionString: at, options });
  await client.connect();
  try {
    await client.query(statement);
    return 'done';
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
}

async function expectKept(at: string): Promise<void> {
  for (const statement of [
    'update ledger_entry set amount = 1',
    'delete from ledger_entry',
    'truncate ledger_entry',
    'alter table ledger_entry add x int',
    'drop table ledger_entry',
  ]) {
    expect([statement, await outcome(at, statement)]).toEqual([statement, DENIED]);
  }
  for (const statement of [
    'select * from ledger_entry',
    'insert into ledger_entry select * from ledger_entry',
    'update ledger_account set balance = 1',
    'delete from job',
  ]) {
    expect([statement, await outcome(at, statement)]).toEqual([statement, 'done']);
  }
}

test('the service of a superuser cannot change, remove or empty the rows of the ledger', async () => {
  await grantServiceRights(url, KEPT);
  expect((await findServiceRole(url, KEPT)).warning).toBeUndefined();
  await expectKept(url);
});

test('the service of an owner who may make roles cannot either', async () => {
  const own = await ownedBy('createrole');
  await grantServiceRights(own, KEPT);
  expect((await findServiceRole(own, KEPT)).warning).toBeUndefined();
  await expectKept(own);
});

test('an owner who may not create roles gets the statement for an administrator, and it helps', async () => {
  const own = await ownedBy('nocreaterole');
  await grantServiceRights(own, KEPT);
  const { role, warning } = await findServiceRole(own, KEPT);
  expect(role).toBeUndefined();
  expect(warning).toContain('create role');
  expect(await outcome(own, 'delete from ledger_entry')).toBe('done');

  const made = /create role ("[^"]+")/.exec(String(warning))?.[1];
  await query(url, `create role ${made} nologin`, `grant ${made} to ${new URL(own).username}`);
  await grantServiceRights(own, KEPT);
  expect((await findServiceRole(own, KEPT)).warning).toBeUndefined();
  await expectKept(own);
});

test('a login that has no right to change the rows needs no role and gets no warning', async () => {
  const own = new URL(url);
  own.username = `service_${randomBytes(4).toString('hex')}`;
  own.password = 'secret';
  await query(
    url,
    `create role ${own.username} login password 'secret'`,
    `grant select, insert, update, delete on all tables in schema public to ${own.username}`,
    `revoke update, delete on ledger_entry from ${own.username}`,
  );
  await grantServiceRights(own.href, KEPT);
  expect(await findServiceRole(own.href, KEPT)).toEqual({});
  await expectKept(own.href);
});

test('tables of a later migration get their rights, and rights that somebody added are taken back', async () => {
  await grantServiceRights(url, KEPT);
  await query(url, 'create table later (n int)');
  expect(await outcome(url, 'insert into later values (1)')).toBe('done');
  const { role, warning } = await findServiceRole(url, KEPT);
  expect(role).toBeUndefined();
  expect(warning).toBeDefined();
  await grantServiceRights(url, KEPT);
  const found = await findServiceRole(url, KEPT);
  expect(found.warning).toBeUndefined();
  expect(await outcome(url, 'insert into later values (1)')).toBe('done');
  await query(url, `grant update on ledger_entry to "${found.role}"`);
  await grantServiceRights(url, KEPT);
  await expectKept(url);
});

test('two nodes that start at once both get there', async () => {
  await Promise.all(Array.from({ length: 4 }, () => grantServiceRights(url, KEPT)));
  await expectKept(url);
});

test('the role takes effect on every connection of a pool, also in a database with an odd name', async () => {
  const odd = `odd name\\"${randomBytes(4).toString('hex')}`;
  const admin = pg.escapeIdentifier(odd);
  await query(inject('postgresUrl'), `create database ${admin}`);
  closing.push(() => query(inject('postgresUrl'), `drop database ${admin} with (force)`));
  const at = new URL(url);
  at.pathname = `/${encodeURIComponent(odd)}`;
  await query(at.href, 'create table ledger_entry (amount int)', 'insert into ledger_entry values (1)');
  await grantServiceRights(at.href, KEPT);
  const { role } = await findServiceRole(at.href, KEPT);
  expect(role).toBe(`florin_service_${odd}`);
  const db = connect({ url: at.href, poolSize: 2, role });
  closing.push(() => db.destroy());
  const change = () =>
    db
      .updateTable('ledger_entry')
      .set({ amount: 2n })
      .execute()
      .catch((error: { code?: string }) => error.code);
  expect(await Promise.all([change(), change()])).toEqual([DENIED, DENIED]);
});
