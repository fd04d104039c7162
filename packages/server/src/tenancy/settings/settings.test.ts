import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import { connect, type Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  clearSetting,
  flagSetting,
  integerSetting,
  listSetting,
  moneyOrWordSetting,
  moneySetting,
  readSettings,
  type Setting,
  writeSetting,
} from './settings.ts';

const SETTINGS = {
  limit: moneySetting({ name: 't.limit', description: '', fallback: { sandbox: '5.00', live: '1.00' } }),
  count: integerSetting({ name: 't.count', description: '', fallback: 3, min: 1, max: 10 }),
  open: flagSetting({ name: 't.open', description: '', fallback: false }),
  words: listSetting({ name: 't.words', description: '', fallback: ['a'], allowed: ['a', 'b', 'c'] }),
};
const setting = (name: keyof typeof SETTINGS) => SETTINGS[name] as Setting<unknown>;

let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 2 });
  drop = () => database.drop();
});
afterAll(async () => {
  await db.destroy();
  await drop();
});

const DEFAULTS = { limit: 5_000_000n, count: 3, open: false, words: ['a'] };

test('a merchant’s value wins over the installation’s, that over the default of the mode', async () => {
  const merchant = { merchantId: newId(), mode: 'sandbox' as const };
  expect(await readSettings(db, merchant, SETTINGS)).toEqual(DEFAULTS);
  expect(await readSettings(db, { ...merchant, mode: 'live' }, SETTINGS)).toMatchObject({
    limit: 1_000_000n,
  });

  await writeSetting(db, NIL_ID, setting('limit'), '7');
  await writeSetting(db, NIL_ID, setting('words'), 'b,c,b');
  expect(await readSettings(db, merchant, SETTINGS)).toMatchObject({ limit: 7_000_000n, words: ['b', 'c'] });
  expect(await readSettings(db, { ...merchant, mode: 'live' }, SETTINGS)).toMatchObject({
    limit: 7_000_000n,
  });

  await writeSetting(db, merchant.merchantId, setting('limit'), '0.01');
  await writeSetting(db, merchant.merchantId, setting('words'), '');
  await writeSetting(db, merchant.merchantId, setting('open'), 'true');
  await writeSetting(db, merchant.merchantId, setting('count'), '10');
  const own = { limit: 10_000n, words: [], open: true, count: 10 };
  expect(await readSettings(db, merchant, SETTINGS)).toEqual(own);
  const other = { merchantId: newId(), mode: 'sandbox' as const };
  expect(await readSettings(db, other, SETTINGS)).toMatchObject({ limit: 7_000_000n, open: false });

  for (const name of ['limit', 'words', 'open', 'count'] as const) {
    await clearSetting(db, merchant.merchantId, setting(name));
    await clearSetting(db, NIL_ID, setting(name));
  }
  expect(await readSettings(db, merchant, SETTINGS)).toEqual(DEFAULTS);
});

const WRONG: Record<keyof typeof SETTINGS, unknown[]> = {
  limit: [
    '',
    '-1',
    '1.001',
    '1e3',
    '01',
    ' 1',
    '1 ',
    '１',
    'ten',
    null,
    {},
    '1000000000.01',
    '9'.repeat(300),
  ],
  count: ['', '0', '11', '1.0', '1.5', '-1', '+1', '0x1', 1.5, Number.NaN, null, true, '9'.repeat(300)],
  open: ['', 'yes', '1', 1, 'TRUE', null],
  words: ['d', 'a,d', 'A', ' a', ['a', 'd'], 'a;b'],
};
for (const [name, values] of Object.entries(WRONG) as [keyof typeof SETTINGS, unknown[]][]) {
  test(`${name} takes nothing else, says what it takes, and keeps what it had`, async () => {
    const merchantId = newId();
    for (const value of values) {
      const refused = await writeSetting(db, merchantId, setting(name), value).catch(
        (error: unknown) => error,
      );
      expect(refused, JSON.stringify(value)).toBeInstanceOf(Fail);
      expect(refused).toMatchObject({ code: 'invalid_request', details: { param: SETTINGS[name].name } });
    }
    expect(await readSettings(db, { merchantId, mode: 'sandbox' }, SETTINGS)).toEqual(DEFAULTS);
  });
}

test('every allowed value is read as it was written', () => {
  const cents = fc.bigInt(0n, 10n ** 11n).map((n) => n * 10_000n);
  fc.assert(
    fc.property(cents, fc.integer({ min: 1, max: 10 }), fc.boolean(), (money, count, flag) => {
      expect(SETTINGS.limit.read(SETTINGS.limit.write(money))).toBe(money);
      expect(SETTINGS.count.read(String(SETTINGS.count.write(count)))).toBe(count);
      expect(SETTINGS.open.read(SETTINGS.open.write(flag))).toBe(flag);
    }),
  );
});

const dayLimit = moneyOrWordSetting({
  name: 'test.limit',
  description: 'A limit.',
  fallback: { sandbox: 'off', live: '12.50' },
  words: ['threshold', 'off'],
});

test('an amount or one of its words is read, and written as it was typed', () => {
  expect([dayLimit.fallback('sandbox'), dayLimit.fallback('live')]).toEqual(['off', 12_500_000n]);
  expect(['off', 'threshold', '0', '10000.00'].map((text) => dayLimit.read(text))).toEqual([
    'off',
    'threshold',
    0n,
    10_000_000_000n,
  ]);
  for (const value of ['off', 'threshold', '12.50']) expect(dayLimit.write(dayLimit.read(value))).toBe(value);
});

test.each(['', 'OFF', 'none', '-1', '1.001', '1e3', true, null, 10n ** 20n])('%s is neither', (value) => {
  expect(() => dayLimit.read(value)).toThrow(Fail);
});
