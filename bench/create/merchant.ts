import { randomBytes } from 'node:crypto';
import { migrateAll, openApp } from '../../packages/server/src/app.ts';
import { PAYOUT_SETTINGS } from '../../packages/server/src/payouts/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';

/** A database with one merchant who may pay out. */
export interface Premises {
  databaseUrl: string;
  merchantId: string;
  storeId: string;
  masterKey: Buffer;
  apiKey: string;
  secretKey: string;
  /** Of a process of the service on this database. */
  env: Record<string, string>;
}

/** @param mode a live one takes payments only where networks are configured */
export async function furnish(databaseUrl: string, mode: 'live' | 'sandbox' = 'live'): Promise<Premises> {
  const masterKey = randomBytes(32);
  await migrateAll(databaseUrl, undefined);
  const app = await openApp({ databaseUrl, masterKey, log: createLogger('silent'), poolSize: 2 });
  try {
    const { merchantId } = await stores.createMerchant(app, { name: 'Bench', mode });
    // Batches of 200 items are above the low limits with which real money starts.
    await writeSetting(app.db, merchantId, PAYOUT_SETTINGS.max, '1000000.00');
    const storeId = await stores.createStore(app, { merchantId, name: 'Bench', channelType: 'api' });
    await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
    const scopes = ['read', 'write', 'payouts'];
    const key = await storeKeys.createKey(app, {
      merchantId,
      storeId,
      name: 'Bench',
      validityDays: 0,
      scopes,
    });
    const { apiKey, secretKey } = key;
    const env = { DATABASE_URL: databaseUrl, FLORIN_MASTER_KEY: masterKey.toString('hex') };
    return { databaseUrl, merchantId, storeId, masterKey, apiKey, secretKey, env };
  } finally {
    await app.close();
  }
}
