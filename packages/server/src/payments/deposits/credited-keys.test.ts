import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db } from '../../platform/db/index.ts';
import { CreditedKeys } from './credited-keys.ts';

let db: Db;
let drop: () => Promise<void>;
const MERCHANT = randomUUID();
const MANY = 45_678;

beforeAll(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 1 });
  drop = async () => {
    await db.destroy();
    await database.drop();
  };
  const write = (network: string, prefix: string, rest: string) =>
    sql`
      insert into payment_transaction (merchant_id, network, tx_id, index, payment_id, currency, address, sender, amount,
        kind, height, seen_at, status, final_at, lost_at, pulled)
      select ${MERCHANT}::uuid, ${network}, ${prefix} || n / 2, n % 2, ${MERCHANT}::uuid, 'USDT', 'to', 'from', 1,
        'counted', 1, 1, ${sql.raw(rest)} from generate_series(0, ${MANY}::int - 1) as n`.execute(db);
  await write('erc20', 'credited', `'final', 1, null, false`);
  await write('erc20', 'seen', `'seen', null, null, false`);
  await write('erc20', 'lost', `'final', 1, 1, false`);
  await write('erc20', 'pulled', `'final', 1, null, true`);
  await write('spl', 'another', `'final', 1, null, false`);
});
afterAll(() => drop());

test('contains every credited transfer, across several batches, and no other', async () => {
  const keys = await CreditedKeys.read(db, MERCHANT, 'erc20');
  const all = (prefix: string) =>
    Array.from({ length: MANY }, (_, n) => `${prefix}${Math.floor(n / 2)}/${n % 2}`);
  expect(all('credited').filter((key) => !keys.has(key))).toEqual([]);
  for (const prefix of ['seen', 'lost', 'pulled', 'another'])
    expect(all(prefix).filter((key) => keys.has(key))).toEqual([]);
  expect((await CreditedKeys.read(db, randomUUID(), 'erc20')).has('credited0/0')).toBe(false);
});
