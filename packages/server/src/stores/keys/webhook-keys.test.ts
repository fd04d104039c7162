import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../../test/database.ts';
import { Clock, connect } from '../../platform/db/index.ts';
import { migrate } from '../../platform/db/migrations/index.ts';
import { createLogger } from '../../platform/observability/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { Vault } from '../../platform/secrets/index.ts';
import { changeStore, createMerchant, createStore } from '../index.ts';
import {
  confirmWebhookKey,
  createKey,
  readWebhookSecrets,
  revokeKey,
  rotateKey,
  setWebhookKey,
} from './index.ts';

/** The real platform with a clock that a test can move. */
class TestClock extends Clock {
  aheadMs = 0;
  override nowMs(): number {
    return super.nowMs() + this.aheadMs;
  }
}

const clock = new TestClock();
let platform: Platform;
let close: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  await migrate(database.url);
  const db = connect({ url: database.url, poolSize: 4 });
  const vault = await Vault.unlock(db, randomBytes(32), clock.nowMs());
  platform = { db, fastDb: db, clock, vault, log: createLogger('silent') };
  close = async () => {
    await db.destroy();
    await database.drop();
  };
});
afterAll(() => close());

async function openStore() {
  const { merchantId } = await createMerchant(platform, { name: 'M', mode: 'sandbox' });
  const storeId = await createStore(platform, { merchantId, name: 'S', channelType: 'api' });
  await changeStore(platform, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
  const newKey = () =>
    createKey(platform, { merchantId, storeId, name: 'K', validityDays: 0, scopes: ['read'] });
  const signer = async () =>
    (await readWebhookSecrets(platform, merchantId, [storeId])).get(storeId)?.toString() ?? 'nobody';
  return { merchantId, storeId, newKey, signer };
}

test('E9: the first key signs; another one named signs when the overlap is over, or when the merchant confirms', async () => {
  const store = await openStore();
  expect(await store.signer()).toBe('nobody');
  const first = await store.newKey();
  const second = await store.newKey();
  const third = await store.newKey();
  expect(await store.signer()).toBe(first.secretKey);

  await setWebhookKey(platform, store, { keyId: second.keyId, overlapSeconds: 3_600 });
  expect(await store.signer()).toBe(first.secretKey);
  clock.aheadMs += 3_599_000;
  expect(await store.signer()).toBe(first.secretKey);
  clock.aheadMs += 2_000;
  expect(await store.signer()).toBe(second.secretKey);

  await setWebhookKey(platform, store, { keyId: third.keyId, overlapSeconds: 3_600 });
  expect(await store.signer()).toBe(second.secretKey);
  await confirmWebhookKey(platform, store);
  expect(await store.signer()).toBe(third.secretKey);

  await setWebhookKey(platform, store, { keyId: first.keyId, overlapSeconds: 0 });
  expect(await store.signer()).toBe(first.secretKey);
});

test('E9: a change within an overlap does not change the key that signs now', async () => {
  const store = await openStore();
  const [first, second, third] = [await store.newKey(), await store.newKey(), await store.newKey()];
  await setWebhookKey(platform, store, { keyId: second.keyId, overlapSeconds: 3_600 });
  await setWebhookKey(platform, store, { keyId: third.keyId, overlapSeconds: 3_600 });
  expect(await store.signer()).toBe(first.secretKey);
  await confirmWebhookKey(platform, store);
  expect(await store.signer()).toBe(third.secretKey);
});

test("E9: while the key's own secret rotates the old one signs, until the overlap ends or the merchant confirms", async () => {
  const store = await openStore();
  const key = await store.newKey();
  const second = await rotateKey(platform, { ...store, keyId: key.keyId }, 3_600);
  expect(await store.signer()).toBe(key.secretKey);
  await confirmWebhookKey(platform, store);
  expect(await store.signer()).toBe(second);
  const third = await rotateKey(platform, { ...store, keyId: key.keyId }, 3_600);
  expect(await store.signer()).toBe(second);
  clock.aheadMs += 3_601_000;
  expect(await store.signer()).toBe(third);
});

test('E9: the expiry of a key ends requests and not signing; a key that signs cannot be revoked', async () => {
  const store = await openStore();
  const { merchantId, storeId } = store;
  const key = await createKey(platform, {
    merchantId,
    storeId,
    name: 'K',
    validityDays: 1,
    scopes: ['read'],
  });
  const other = await store.newKey();
  clock.aheadMs += 2 * 86_400_000;
  expect(await store.signer()).toBe(key.secretKey);
  const ref = { merchantId, keyId: key.keyId };
  await expect(revokeKey(platform, ref)).rejects.toThrow(/signs the webhooks/);
  await setWebhookKey(platform, store, { keyId: other.keyId, overlapSeconds: 3_600 });
  // In the overlap it still signs.
  await expect(revokeKey(platform, ref)).rejects.toThrow(/signs the webhooks/);
  await confirmWebhookKey(platform, store);
  await revokeKey(platform, ref);
  await expect(setWebhookKey(platform, store, { keyId: key.keyId, overlapSeconds: 0 })).rejects.toThrow(
    /not revoked/,
  );
  await expect(setWebhookKey(platform, store, { keyId: other.keyId, overlapSeconds: -1 })).rejects.toThrow(
    /overlap/,
  );
  const stranger = await openStore();
  const foreign = await stranger.newKey();
  await expect(setWebhookKey(platform, store, { keyId: foreign.keyId, overlapSeconds: 0 })).rejects.toThrow(
    'There is no key',
  );
  expect(await store.signer()).toBe(other.secretKey);
});
