import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../../test/database.ts';
import { Fail } from '../../fail.ts';
import { connect, type Db } from '../db.ts';
import { newId } from '../ids/ids.ts';
import { transact } from '../transact.ts';
import { bodyDigest, type ClaimedKey, claimKey, type IdempotencyClaim } from './idempotency.ts';

let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  db = connect({ url: database.url, poolSize: 10 });
  drop = () => database.drop();
});
afterAll(async () => {
  await db.destroy();
  await drop();
});

const claimOf = (changed: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  merchantId: newId(),
  operation: 'payout_batch.create',
  key: 'key',
  digest: bodyDigest({ amount: '1' }),
  storeId: newId(),
  resourceId: newId(),
  nowSeconds: 1,
  ...changed,
});
const claim = (claimed: IdempotencyClaim): Promise<ClaimedKey> =>
  transact(db, (tx) => claimKey(tx, { ...claimed, resourceId: newId() }));
const conflicts = (error: unknown) => error instanceof Fail && error.code === 'conflict';

test('B4: key order and white space make no other request; order of an array, types and absence do', () => {
  const same = (a: string, b: string) => bodyDigest(JSON.parse(a)).equals(bodyDigest(JSON.parse(b)));
  expect(same('{"a":1,"b":{"c":[1,2],"d":""}}', ' { "b" : {"d":"", "c":[ 1,2 ]},\n"a":1 }')).toBe(true);
  expect(same('{"a":"\\u0041"}', '{"a":"A"}')).toBe(true);
  for (const [a, b] of [
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":""}', '{}'],
    ['{"a":null}', '{}'],
    ['{"a":[]}', '{"a":{}}'],
    ['{"a":["b","c"]}', '{"a":["b,c"]}'],
    ['{"a":"b","c":"d"}', '{"a":"b\\",\\"c\\":\\"d"}'],
    ['{"a":{"b":1}}', '{"a":1,"b":1}'],
    ['{"é":1}', '{"e\\u0301":1}'],
    ['{"a":0.1}', '{"a":0.10000001}'],
  ] as const) {
    expect([a, b, same(a, b)]).toEqual([a, b, false]);
  }
});

test('B4: for any two bodies the digests are equal exactly when the bodies are', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, shuffled(inner)]);
    return Object.fromEntries(entries.toReversed());
  };
  const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  const json = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(bodyDigest(shuffled(a)).equals(bodyDigest(a))).toBe(true);
      const equal = bodyDigest(a).equals(bodyDigest(b));
      expect(equal).toBe(isDeepStrictEqual(sent(a), sent(b)));
    }),
  );
});
test('B1: one of many concurrent claims is the first, and all others get its resource', async () => {
  const one = claimOf();
  const claimed = await Promise.all(Array.from({ length: 40 }, () => claim(one)));
  const firsts = claimed.filter(({ first }) => first);
  expect(firsts.length).toBe(1);
  expect(new Set(claimed.map(({ resourceId }) => resourceId)).size).toBe(1);
  expect(claimed.every(({ storeId }) => storeId === one.storeId)).toBe(true);
});

test('B4: other parameters are a conflict, also when both come at once', async () => {
  const one = claimOf();
  const other = { ...one, digest: bodyDigest({ amount: '2' }) };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => claim(i % 2 === 0 ? one : other)),
  );
  const won = outcomes.findIndex((outcome) => outcome.status === 'fulfilled' && outcome.value.first) % 2;
  for (const [i, outcome] of outcomes.entries()) {
    if (i % 2 === won) expect(outcome.status).toBe('fulfilled');
    else expect(outcome.status === 'rejected' && conflicts(outcome.reason)).toBe(true);
  }
});

test('B5, B6: merchants and operations have spaces of their own; stores of one merchant share theirs', async () => {
  const one = claimOf();
  expect((await claim(one)).first).toBe(true);
  expect((await claim({ ...one, merchantId: newId() })).first).toBe(true);
  expect((await claim({ ...one, operation: 'subscription.create' })).first).toBe(true);
  const again = await claim({ ...one, storeId: newId() });
  expect(again).toMatchObject({ first: false, storeId: one.storeId });
});

test('B7: a claim that is rolled back binds nothing', async () => {
  const one = claimOf();
  const refused = transact(db, async (tx) => {
    await claimKey(tx, one);
    throw new Fail('batch_amount_too_low', 'too low');
  });
  await expect(refused).rejects.toThrow('too low');
  expect((await claim({ ...one, digest: bodyDigest({ amount: '2' }) })).first).toBe(true);
});

test('B8: a key from years ago is still known', async () => {
  const one = claimOf({ nowSeconds: 1 });
  await claim(one);
  expect((await claim({ ...one, nowSeconds: 1 + 400 * 86_400 })).first).toBe(false);
});
