import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { connect, type Db } from '../../platform/db/index.ts';
import { testAddresses } from '../simulated/test-addresses.ts';
import { addRiskAddress, findSanctioned, listRiskAddresses, removeRiskAddress } from './risk-list.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const { succeed, fail, stuck } = testAddresses('erc20');
const tron = testAddresses('trc20').fail;

test('an address is listed on its network until it is removed', async () => {
  await addRiskAddress(db, { network: 'erc20', address: fail, reason: 'sanctions' }, 1);
  await addRiskAddress(db, { network: 'erc20', address: stuck, reason: 'theft' }, 2);
  await addRiskAddress(db, { network: 'trc20', address: tron, reason: 'theft' }, 3);
  expect(await findSanctioned(db, 'erc20', [succeed, fail, fail, stuck])).toEqual(new Set([fail, stuck]));
  expect(await findSanctioned(db, 'trc20', [fail, tron])).toEqual(new Set([tron]));
  expect(await findSanctioned(db, 'spl', [fail])).toEqual(new Set());
  expect(await findSanctioned(db, 'erc20', [])).toEqual(new Set());
  expect(await removeRiskAddress(db, 'erc20', stuck)).toBe(true);
  expect(await removeRiskAddress(db, 'erc20', stuck)).toBe(false);
  expect(await findSanctioned(db, 'erc20', [fail, stuck])).toEqual(new Set([fail]));
});

test('listing again changes the reason; the list comes in pages', async () => {
  await addRiskAddress(db, { network: 'erc20', address: fail, reason: 'court order' }, 4);
  const first = await listRiskAddresses(db, { limit: 1 });
  expect(first).toEqual([{ network: 'erc20', address: fail, reason: 'court order' }]);
  const rest = await listRiskAddresses(db, { limit: 10, after: { network: 'erc20', address: fail } });
  expect(rest).toEqual([{ network: 'trc20', address: tron, reason: 'theft' }]);
});

test('a reason is a text that people can read', async () => {
  const list = (reason: string) => addRiskAddress(db, { network: 'erc20', address: fail, reason }, 5);
  for (const reason of ['a\u202eb', 'line\nline', '\u0007', '\ud800', 'zero\u200bwidth', 'x'.repeat(501)])
    await expect(list(reason)).rejects.toMatchObject({ details: { param: 'reason' } });
  await list('x'.repeat(500));
  await list('');
});

test('while the list cannot be read, no address passes', async () => {
  const away = connect({ url: 'postgres://127.0.0.1:1/none', poolSize: 1 });
  await expect(findSanctioned(away, 'erc20', [succeed])).rejects.toThrow('ECONNREFUSED');
  await away.destroy();
});
