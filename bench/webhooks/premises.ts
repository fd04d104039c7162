import { randomBytes, randomUUID } from 'node:crypto';
import { migrateAll, openApp } from '../../packages/server/src/app.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { type Child, startChild } from '../child.ts';
import { type BenchServer, execute } from '../database.ts';
import type { RunOptions } from '../rows.ts';
import { startReceivers } from './receivers.ts';

const DAY_MS = 86_400_000;
const PAST_DAYS = 30;
const ROWS_A_PAST_DAY = 2_000;
/** Of each merchant. */
const ENDPOINTS = 10;

export interface Premises {
  url: string;
  masterKey: Buffer;
  receiver: Child;
  ca: string;
  /** Origins of the receiver. */
  urls: string[];
  merchants: string[];
  /** A worker process with its outbound connections open to the receiver. */
  startSender(): Promise<Child>;
  close(): Promise<void>;
}

/** A UUID of version 7 from a time in milliseconds. */
export const idAt = (ms: string) => `(lpad(to_hex((${ms})::bigint), 12, '0') || '7' ||
  substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid`;

/** Merchants with ten endpoints each, one for each origin, and thirty days of events that were delivered. */
export async function furnish(
  server: BenchServer,
  origins: number,
  { profileDir, log }: RunOptions,
): Promise<Premises> {
  const { receiver, ca, urls, env: outbound, close } = await startReceivers(origins);
  const url = await server.createDatabase();
  const masterKey = randomBytes(32);
  await migrateAll(url, undefined);
  const merchants = await createMerchants(url, masterKey, Math.ceil(origins / ENDPOINTS));
  for (const [i, origin] of urls.entries()) {
    const merchant = merchants[Math.floor(i / ENDPOINTS)];
    await execute(
      url,
      `insert into webhook_endpoint (merchant_id, endpoint_id, store_id, url, types, created_at)
       select merchant_id, '${randomUUID()}', store_id, '${origin}/hook', '{payout_batch.updated}', 0
       from store where merchant_id = '${merchant}'`,
    );
  }
  await fillPast(url);
  log(`  ${origins} origins of ${merchants.length} merchants, ${PAST_DAYS} days of events before`);
  const env = { ...outbound, DATABASE_URL: url, FLORIN_MASTER_KEY: masterKey.toString('hex') };
  return {
    url,
    masterKey,
    receiver,
    ca,
    urls,
    merchants,
    async startSender() {
      const sender = startChild('webhooks/sender.ts', { env, profileDir });
      await sender.next();
      return sender;
    },
    close,
  };
}

async function createMerchants(url: string, masterKey: Buffer, count: number): Promise<string[]> {
  const app = await openApp({ databaseUrl: url, masterKey, log: createLogger('silent'), poolSize: 2 });
  try {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      // The sandbox's: only their webhooks may go to this machine.
      const { merchantId } = await stores.createMerchant(app, { name: `Bench ${i}`, mode: 'sandbox' });
      const storeId = await stores.createStore(app, { merchantId, name: 'Bench', channelType: 'api' });
      await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
      await storeKeys.createKey(app, {
        merchantId,
        storeId,
        name: 'Bench',
        validityDays: 0,
        scopes: ['read'],
      });
      ids.push(merchantId);
    }
    return ids;
  } finally {
    await app.close();
  }
}

/** The days that an installation keeps, so that statements have as many tables to choose from as they will have. */
async function fillPast(url: string): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const statements: string[] = [];
  for (let day = 1; day <= PAST_DAYS; day++) {
    const fromMs = today - day * DAY_MS;
    const name = new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '');
    for (const table of ['event', 'delivery']) {
      statements.push(
        `create table ${table}_p${name} partition of ${table} for values from ('${firstId(fromMs)}') to ('${firstId(fromMs + DAY_MS)}')`,
      );
    }
    statements.push(fillDay(fromMs));
  }
  await execute(url, ...statements, 'vacuum analyze');
}

const firstId = (ms: number) => {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

const fillDay = (fromMs: number) => `
  with new as materialized (
    select e.merchant_id, e.store_id, e.endpoint_id, ${idAt(`${fromMs} + i::bigint * ${DAY_MS} / ${ROWS_A_PAST_DAY + 1}`)} as event_id, i
    from generate_series(1, ${ROWS_A_PAST_DAY}) i
    join (select *, row_number() over () as n, count(*) over () as all_of_them from webhook_endpoint) e
      on e.n = 1 + i % all_of_them
  ), events as (
    insert into event (merchant_id, event_id, store_id, type, resource, sequence, number, body, created_at, recorded_at_ms)
    select merchant_id, event_id, store_id, 'payout_batch.updated', 'past_' || event_id, 1, 0,
           '{"past":"' || repeat('x', 900) || '"}', ${Math.floor(fromMs / 1000)}, ${fromMs} from new
  )
  insert into delivery (merchant_id, event_id, endpoint_id, delivery_id, store_id, event_type, number, status,
                        series_attempts, due_at, attempts, event_created_at, created_at)
  select merchant_id, event_id, endpoint_id, event_id, store_id, 'payout_batch.updated', i, 'delivered', 1, 0,
         '[{"at":0,"status_code":200,"duration_ms":5,"failure":null,"response":"ok"}]', 0, 0 from new`;
