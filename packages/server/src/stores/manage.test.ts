import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform } from '../../../../test/platform.ts';
import { newId } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import { encodeId } from '../tenancy/index.ts';
import { addApprover, identifyApprover, listApprovers, removeApprover } from './approvers/index.ts';
import { changeStore, createMerchant, createStore, listMerchants, listStores } from './index.ts';
import { listKeys } from './key-lists/index.ts';
import { digestOf } from './keys/credentials.ts';
import { createKey, revokeKey, rotateKey } from './keys/index.ts';
import { secretContext } from './keys/secrets.ts';

let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
});
afterAll(() => close());

async function refusal(run: Promise<unknown>): Promise<string> {
  const error = await run.catch((caught: unknown) => caught);
  return error instanceof Fail ? `${error.code} ${error.details.param ?? ''}`.trim() : String(error);
}
async function openStore(mode: 'sandbox' | 'live' = 'sandbox') {
  const { merchantId } = await createMerchant(platform, { name: 'M', mode });
  const storeId = await createStore(platform, { merchantId, name: 'S', channelType: 'api' });
  const store = { merchantId, storeId };
  await changeStore(platform, store, { reviewStatus: 'approved', enabled: true });
  return store;
}
type Store = Awaited<ReturnType<typeof openStore>>;
const keyOf = (store: Store, changed: Partial<Parameters<typeof createKey>[1]> = {}) =>
  createKey(platform, { ...store, name: 'K', validityDays: 0, scopes: ['read'], ...changed });

const NAMES: [string, boolean][] = [
  ['Shop', true],
  ['  Shop  ', true],
  ['商店 🦊', true],
  ['n'.repeat(200), true],
  ['n'.repeat(201), false],
  ['', false],
  ['   ', false],
  ['a\nb', false],
  ['a\0b', false],
];
test.each(NAMES)('the name %j of a merchant, store, key or approver', async (name, allowed) => {
  const store = await openStore();
  const said = [
    await refusal(createMerchant(platform, { name, mode: 'live' })),
    await refusal(createStore(platform, { merchantId: store.merchantId, name, channelType: 'api' })),
    await refusal(keyOf(store, { name })),
    await refusal(addApprover(platform, store.merchantId, name)),
  ];
  const isRefused = said.map((text) => text === 'invalid_request name');
  expect(isRefused).toEqual(said.map(() => !allowed));
});

test('a new store waits: no key before its channel is the API, it is reviewed and enabled', async () => {
  const { merchantId } = await createMerchant(platform, { name: 'M', mode: 'sandbox' });
  const storeId = await createStore(platform, { merchantId, name: 'S', channelType: 'api' });
  const store = { merchantId, storeId };
  const [row] = await listStores(platform, merchantId);
  expect(row).toMatchObject({ review_status: 'pending', enabled: false });
  expect(await refusal(keyOf(store))).toBe('invalid_request');
  await changeStore(platform, store, { enabled: true });
  expect(await refusal(keyOf(store))).toBe('invalid_request');
  await changeStore(platform, store, { reviewStatus: 'approved', enabled: false });
  expect(await refusal(keyOf(store))).toBe('invalid_request');
  await changeStore(platform, store, { enabled: true });
  expect((await keyOf(store)).keyId).toBeTruthy();
  await changeStore(platform, store, { reviewStatus: 'rejected' });
  expect(await refusal(keyOf(store))).toBe('invalid_request');

  const hosted = await createStore(platform, { merchantId, name: 'H', channelType: 'hosted' });
  await changeStore(platform, { merchantId, storeId: hosted }, { reviewStatus: 'approved', enabled: true });
  expect(await refusal(keyOf({ merchantId, storeId: hosted }))).toBe('invalid_request');
});

test('nothing is created for an unknown merchant or store, or for another merchant’s', async () => {
  const store = await openStore();
  const other = await openStore();
  const mixed = { merchantId: store.merchantId, storeId: other.storeId };
  expect(await refusal(keyOf(mixed))).toBe('resource_not_found');
  expect(await refusal(changeStore(platform, mixed, { enabled: false }))).toBe('resource_not_found');
  expect(await refusal(createStore(platform, { merchantId: newId(), name: 'S', channelType: 'api' }))).toBe(
    'resource_not_found',
  );
  expect(await refusal(addApprover(platform, newId(), 'Ann'))).toBe('resource_not_found');
  const { keyId } = await keyOf(other);
  expect(await refusal(revokeKey(platform, { merchantId: store.merchantId, keyId }))).toBe(
    'resource_not_found',
  );
  expect(await refusal(rotateKey(platform, { merchantId: store.merchantId, keyId }, 0))).toBe(
    'resource_not_found',
  );
});

test('a key shows its mode, and its secrets are nowhere in the database', async () => {
  for (const [mode, mark] of [
    ['sandbox', 'test'],
    ['live', 'live'],
  ] as const) {
    const store = await openStore(mode);
    const { apiKey, secretKey } = await keyOf(store);
    expect(apiKey).toMatch(new RegExp(`^fl_${mark}_[1-9A-HJ-NP-Za-km-z]{32,44}$`));
    expect(secretKey).toMatch(new RegExp(`^fls_${mark}_[1-9A-HJ-NP-Za-km-z]{40,44}$`));
    const token = await addApprover(platform, store.merchantId, 'Ann');
    const tables = ['api_key', 'approver'] as const;
    for (const table of tables) {
      const rows = await platform.db.selectFrom(table).selectAll().execute();
      const dump = JSON.stringify(rows, (_, value) => {
        if (typeof value === 'bigint') return String(value);
        return value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value;
      });
      for (const secret of [apiKey, secretKey, token]) expect(dump.includes(secret)).toBe(false);
    }
    const [listed] = await listKeys(platform, store);
    expect(JSON.stringify(listed)).not.toContain(secretKey);
    expect(listed).toMatchObject({
      api_key: `…${apiKey.slice(-4)}`,
      signs_webhooks: true,
      last_used_at: null,
    });
  }
});

test('validity, scopes and owner are checked; 0 days never expire', async () => {
  const store = await openStore();
  for (const validityDays of [-1, 0.5, 36_501, Number.NaN]) {
    expect(await refusal(keyOf(store, { validityDays }))).toBe('invalid_request validity_days');
  }
  for (const scopes of [[], ['admin'], ['read', 'admin'], ['Read'], ['']]) {
    expect(await refusal(keyOf(store, { scopes }))).toBe('invalid_request scopes');
  }
  expect(await refusal(keyOf(store, { ownerName: 'Nobody' }))).toBe('invalid_request owner');
  await addApprover(platform, store.merchantId, 'Ann');
  await keyOf(store, { ownerName: 'Ann', validityDays: 90, scopes: ['payouts', 'read', 'read'] });
  await keyOf(store, { validityDays: 0 });
  const [owned, forever] = await listKeys(platform, store);
  const days = (Date.parse(owned?.expires_at ?? '') - platform.clock.nowMs()) / 86_400_000;
  expect(days).toBeCloseTo(90, 3);
  expect(owned?.scopes).toEqual(['read', 'payouts']);
  expect(owned?.owner).toMatch(/^apr_/);
  expect(forever).toMatchObject({ expires_at: null, owner: null, status: 'active', signs_webhooks: false });
});

/** What the row seals: the current secret and the one of the overlap. */
async function sealedIn({ merchantId }: Store, keyId: string) {
  const row = await platform.db
    .selectFrom('api_key')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow();
  const open = (sealed: Buffer | null) =>
    sealed && platform.vault.open(sealed, secretContext(merchantId, keyId)).toString();
  const until = row.previous_secret_until_ms;
  return { now: open(row.secret), before: open(row.previous_secret), until: until && Number(until) };
}

test('A7: a rotation keeps the old secret for the requested overlap, and never two old ones', async () => {
  const store = await openStore();
  const { keyId, secretKey } = await keyOf(store);
  const key = { merchantId: store.merchantId, keyId };
  const second = await rotateKey(platform, key, 3_600);
  const overlapping = await sealedIn(store, keyId);
  expect(overlapping).toMatchObject({ now: second, before: secretKey });
  expect(Number(overlapping.until) - platform.clock.nowMs()).toBeGreaterThan(3_590_000);
  const third = await rotateKey(platform, key, 3_600);
  expect(await sealedIn(store, keyId)).toMatchObject({ now: third, before: second });
  const fourth = await rotateKey(platform, key, 0);
  expect(await sealedIn(store, keyId)).toEqual({ now: fourth, before: null, until: null });
  for (const overlap of [-1, 1.5, 30 * 86_400 + 1, Number.NaN]) {
    expect(await refusal(rotateKey(platform, key, overlap))).toBe('invalid_request overlap');
  }
  expect(new Set([secretKey, second, third, fourth]).size).toBe(4);
});

test('A7: a revoked key stays revoked at its time, and cannot be rotated', async () => {
  const store = await openStore();
  await keyOf(store);
  const { keyId } = await keyOf(store);
  const key = { merchantId: store.merchantId, keyId };
  const find = async () =>
    (await listKeys(platform, store)).find((one) => one.key_id === encodeId('key', keyId));
  await revokeKey(platform, key);
  const first = await find();
  await revokeKey(platform, key);
  const again = await find();
  expect(first).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) });
  expect(again).toEqual(first);
  expect(await refusal(rotateKey(platform, key, 0))).toBe('invalid_request');
});

test('approvers: names are unique, name and token identify, removed ones do not', async () => {
  const { merchantId } = await openStore();
  const ann = await addApprover(platform, merchantId, 'Ann');
  expect(await refusal(addApprover(platform, merchantId, 'Ann'))).toBe('invalid_request name');
  expect(await refusal(addApprover(platform, merchantId, ' Ann '))).toBe('invalid_request name');
  await addApprover(platform, merchantId, 'Abe');
  expect((await listApprovers(platform, merchantId)).map(({ name }) => name)).toEqual(['Abe', 'Ann']);

  const identify = (name: string, token: string) => identifyApprover(platform, merchantId, { name, token });
  expect((await identify('Ann', ann)).name).toBe('Ann');
  const wrong = [identify('Ann', 'x'), identify('Abe', ann), identify('ann', ann), identify('Ann', '')];
  expect(await Promise.all(wrong.map(refusal))).toEqual(wrong.map(() => 'forbidden'));

  const before = await identify('Ann', ann);
  await removeApprover(platform, merchantId, 'Ann');
  expect(await refusal(identify('Ann', ann))).toBe('forbidden');
  expect(await refusal(removeApprover(platform, merchantId, 'Ann'))).toBe('resource_not_found');
  const anew = await addApprover(platform, merchantId, 'Ann');
  expect(anew).not.toBe(ann);
  expect(await refusal(identify('Ann', ann))).toBe('forbidden');
  // The same person with the same id, who cannot approve twice by registering twice.
  expect(await identify('Ann', anew)).toEqual(before);
});

test('concurrent registrations of one name: one of them succeeds', async () => {
  const { merchantId } = await openStore();
  const made = await Promise.allSettled(
    Array.from({ length: 8 }, () => addApprover(platform, merchantId, 'Ann')),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await listApprovers(platform, merchantId)).toHaveLength(1);
});

test('of names that look alike the first is registered, and a removed approver’s name stays taken', async () => {
  const { merchantId } = await openStore();
  const add = (name: string) => addApprover(platform, merchantId, name);
  const token = await add('Ann Miller');
  const alike = [
    'ann miller',
    'ANN MILLER',
    '\u0410nn Miller',
    'Ann\u00a0Miller',
    'Ａｎｎ Miller',
    'Ann Mi11er',
  ];
  for (const name of alike) expect([name, await refusal(add(name))]).toEqual([name, 'invalid_request name']);
  for (const name of ['Ann\u200b', '\ufeffBea', 'Bea\u202e', 'Jose\u0301', 'Bea\n'])
    expect([name, await refusal(add(name))]).toEqual([name, 'invalid_request name']);
  const before = await identifyApprover(platform, merchantId, { name: 'Ann Miller', token });
  await removeApprover(platform, merchantId, 'Ann Miller');
  expect(await refusal(add('ann miller'))).toBe('invalid_request name');
  const anew = await add('Ann Miller');
  expect(await identifyApprover(platform, merchantId, { name: 'Ann Miller', token: anew })).toEqual(before);
  const other = await openStore();
  const made = await Promise.allSettled(alike.map((name) => addApprover(platform, other.merchantId, name)));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await listApprovers(platform, other.merchantId)).toHaveLength(1);
});

test('approvers from before the check of names stay, are shown, and get no further lookalikes', async () => {
  const { merchantId } = await openStore();
  const names = ['Ann', '\u0410nn', 'Bo\u200bb'];
  for (const name of names)
    await platform.db
      .insertInto('approver')
      .values({
        merchant_id: merchantId,
        approver_id: newId(),
        name,
        token_digest: digestOf(name),
        removed_at: null,
        created_at: 0,
      })
      .execute();
  for (const name of names)
    expect((await identifyApprover(platform, merchantId, { name, token: name })).name).toBe(name);
  const listed = await listApprovers(platform, merchantId);
  expect(Object.fromEntries(listed.map((one) => [one.name, one.looks_like]))).toEqual({
    Ann: '\u0410nn',
    '\u0410nn': 'Ann',
    'Bo\u200bb': null,
  });
  expect(await refusal(addApprover(platform, merchantId, 'ann'))).toBe('invalid_request name');
  // Once removed, one of the two cannot return beside the other.
  await removeApprover(platform, merchantId, '\u0410nn');
  expect(await refusal(addApprover(platform, merchantId, '\u0410nn'))).toBe('invalid_request name');
  await removeApprover(platform, merchantId, 'Ann');
  expect(await addApprover(platform, merchantId, 'Ann')).toMatch(/^fla_/);
});

test('merchants are listed in order of creation', async () => {
  const made: string[] = [];
  for (let i = 0; i < 3; i++)
    made.push((await createMerchant(platform, { name: `M${i}`, mode: 'live' })).merchantId);
  const listed = (await listMerchants(platform.db)).map((one) => one.merchantId);
  expect(listed.filter((id) => made.includes(id))).toEqual(made);
});
