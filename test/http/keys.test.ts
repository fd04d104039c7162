import { afterAll, beforeAll, expect, test } from 'vitest';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import type { KeySecrets } from '../../packages/server/src/stores/keys/manage-keys.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Credentials, send } from '../signed-request.ts';
import { expectError } from './expect-error.ts';
import { type Api, callOf, loadApi, type Operation } from './operations.ts';
import { query } from './rows.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';
const FORBIDDEN = { [BALANCES]: null, [BATCHES]: 'forbidden' };
const UNKNOWN = { [BALANCES]: 'invalid_api_key', [BATCHES]: 'authentication_required' };

let service: TestService;
let nodes: string[];
let api: Api;

beforeAll(async () => {
  service = await startService({ worker: true });
  nodes = [service.baseUrl, await service.addNode()];
  api = await loadApi(service.baseUrl);
});
afterAll(() => service.stop());

/** Both nodes, both families: all obey at once, as each request reads the row. */
async function expectEverywhere(credentials: Credentials, status: 200 | 401 | 403): Promise<void> {
  for (const node of nodes) {
    for (const path of [BALANCES, BATCHES] as const) {
      const answer = await send(`${node}${path}`, credentials);
      const codes = status === 401 ? UNKNOWN : FORBIDDEN;
      if (status === 200) expect(answer.status).toBe(200);
      else expectError(answer, path, { status, code: codes[path] ?? null });
    }
  }
}

const newMerchant = () => service.createMerchant({ funds: 0n });

async function newKey(merchant: TestMerchant, validityDays: number): Promise<KeySecrets> {
  const { merchantId, storeId } = merchant;
  const scopes = ['read', 'write', 'payouts', 'refunds'];
  return await storeKeys.createKey(service.app, { merchantId, storeId, name: 'Key', validityDays, scopes });
}

test('A7: a validity of 0 days never expires', async () => {
  const key = await newKey(await newMerchant(), 0);
  const [row] = (await query(service, 'select expires_at_ms from api_key where key_id = $1', [
    key.keyId,
  ])) as {
    expires_at_ms: null;
  }[];
  expect(row?.expires_at_ms).toBeNull();
  await expectEverywhere(key, 200);
});

test('A7: a key of one day lives for 24 hours and is 401 from then on', async () => {
  const key = await newKey(await newMerchant(), 1);
  await expectEverywhere(key, 200);
  const age = (ms: number) =>
    query(service, 'update api_key set expires_at_ms = expires_at_ms - $1 where key_id = $2', [
      ms,
      key.keyId,
    ]);
  await age(86_400_000 - 60_000);
  await expectEverywhere(key, 200);
  await age(60_000);
  await expectEverywhere(key, 401);
});

test('A7: during the overlap of a rotation both secrets sign, after it the new one alone', async () => {
  const merchant = await newMerchant();
  const rotated = { ...merchant, secretKey: await storeKeys.rotateKey(service.app, merchant, 3_600) };
  await expectEverywhere(merchant, 200);
  await expectEverywhere(rotated, 200);
  await query(service, 'update api_key set previous_secret_until_ms = $1 where key_id = $2', [
    // The second node has a clock of its own, which may be a moment behind.
    service.app.clock.nowMs() - 1_000,
    merchant.keyId,
  ]);
  await expectEverywhere(merchant, 401);
  await expectEverywhere(rotated, 200);
});

test('A7: a rotation without an overlap ends the old secret at once', async () => {
  const merchant = await newMerchant();
  await expectEverywhere(merchant, 200);
  const secretKey = await storeKeys.rotateKey(service.app, merchant, 0);
  await expectEverywhere(merchant, 401);
  await expectEverywhere({ ...merchant, secretKey }, 200);
});

test('A7: of two rotations in one overlap the oldest secret is over', async () => {
  const merchant = await newMerchant();
  const second = await storeKeys.rotateKey(service.app, merchant, 3_600);
  const third = await storeKeys.rotateKey(service.app, merchant, 3_600);
  await expectEverywhere(merchant, 401);
  await expectEverywhere({ ...merchant, secretKey: second }, 200);
  await expectEverywhere({ ...merchant, secretKey: third }, 200);
});

test.each<[why: string, end: (key: KeySecrets & TestMerchant) => Promise<unknown>]>([
  [
    'has expired',
    (key) => query(service, 'update api_key set expires_at_ms = 1 where key_id = $1', [key.keyId]),
  ],
  [
    'is revoked',
    (key) => query(service, 'update api_key set revoked_at_ms = 1 where key_id = $1', [key.keyId]),
  ],
  ['has another secret', (key) => storeKeys.rotateKey(service.app, key, 0)],
  [
    'was replaced, and the overlap is over',
    async (key) => {
      await storeKeys.rotateKey(service.app, key, 3_600);
      await expectEverywhere(key, 200);
      await query(service, 'update api_key set previous_secret_until_ms = 1 where key_id = $1', [key.keyId]);
    },
  ],
])('A6, A7: nodes that know a key write nothing for it once it %s', async (_why, end) => {
  const merchant = await newMerchant();
  await expectEverywhere(merchant, 200);
  await end(merchant as KeySecrets & TestMerchant);
  const count = () => query(service, 'select nonce from nonce where key_id = $1', [merchant.keyId]);
  const before = await count();
  await expectEverywhere(merchant, 401);
  expect(await count()).toEqual(before);
});

test("A7: a secret of one key is none of another key's, of the same store or another", async () => {
  const merchant = await newMerchant();
  const sister = await newKey(merchant, 0);
  const stranger = await newMerchant();
  await expectEverywhere({ apiKey: merchant.apiKey, secretKey: sister.secretKey }, 401);
  await expectEverywhere({ apiKey: merchant.apiKey, secretKey: stranger.secretKey }, 401);
});

test('A7: a revoked key is 401 for good, and its sisters live on', async () => {
  const merchant = await newMerchant();
  const sister = await newKey(merchant, 0);
  await expectEverywhere(merchant, 200);
  // It signs the store's webhooks until another key does.
  await expect(storeKeys.revokeKey(service.app, merchant)).rejects.toThrow(/webhook-key/);
  await storeKeys.setWebhookKey(service.app, merchant, { keyId: sister.keyId, overlapSeconds: 0 });
  await storeKeys.revokeKey(service.app, merchant);
  await expectEverywhere(merchant, 401);
  await expectEverywhere(sister, 200);
});

test('A7: a disabled or rejected store is 403 until it is enabled again', async () => {
  const merchant = await newMerchant();
  const other = await service.addStore(merchant);
  for (const [change, back] of [
    [{ enabled: false }, { enabled: true }],
    [{ reviewStatus: 'rejected' }, { reviewStatus: 'approved' }],
  ] as const) {
    await stores.changeStore(service.app, merchant, change);
    await expectEverywhere(merchant, 403);
    await expectEverywhere(other, 200);
    await stores.changeStore(service.app, merchant, back);
    await expectEverywhere(merchant, 200);
  }
});

test('A7: a suspended merchant is 403 with every key, and others are not', async () => {
  const [merchant, bystander] = [await newMerchant(), await newMerchant()];
  const other = await service.addStore(merchant);
  await stores.setMerchantStatus(service.app, merchant.merchantId, 'suspended');
  await expectEverywhere(merchant, 403);
  await expectEverywhere(other, 403);
  await expectEverywhere(bystander, 200);
  await stores.setMerchantStatus(service.app, merchant.merchantId, 'active');
  await expectEverywhere(merchant, 200);
});

test('A7: a wrong signature reveals nothing about a revoked key, a disabled store or a suspended merchant', async () => {
  const merchant = await newMerchant();
  const guess = { apiKey: merchant.apiKey, secretKey: 'wrong' };
  await stores.changeStore(service.app, merchant, { enabled: false });
  await expectEverywhere(guess, 401);
  await stores.setMerchantStatus(service.app, merchant.merchantId, 'suspended');
  await expectEverywhere(guess, 401);
});

/** The scope of a call, by the rule of the design: reading, paying out, refunding, and all other writing. */
function scopeOf(operation: Operation): string {
  if (operation.method === 'GET') return 'read';
  if (operation.path.startsWith('/api/v1/refunds')) return 'refunds';
  return operation.path.startsWith(BATCHES) ? 'payouts' : 'write';
}

for (const scope of ['read', 'write', 'payouts', 'refunds']) {
  test(`A7: a key with the scope ${scope} alone is 403 on every call of another scope`, async () => {
    const key = await service.createMerchant({ scopes: [scope], funds: 0n });
    for (const operation of api.operations) {
      const { url, path, options } = callOf(service.baseUrl, api, operation);
      const answer = await send(url, key, options);
      if (scopeOf(operation) === scope) expect([operation.operationId, answer.status]).not.toContain(403);
      else expectError(answer, path, { status: 403, code: path.startsWith(BATCHES) ? 'forbidden' : null });
    }
  });
}

test('O2: test helpers are 403 for a live merchant, and its key names its mode', async () => {
  const live = await service.createMerchant({ mode: 'live' });
  expect(live.apiKey).toMatch(/^fl_live_/);
  for (const operation of api.operations.filter(({ path }) => path.includes('/test_helpers/'))) {
    const { url, path, options } = callOf(service.baseUrl, api, operation);
    expectError(await send(url, live, options), path, { status: 403, code: null });
  }
  await expectEverywhere(live, 200);
});
