import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { SCOPES } from '@florin/contract/scopes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, migrateAll, openApp } from '../packages/server/src/app.ts';
import { createLogger } from '../packages/server/src/platform/observability/log.ts';
import { fund } from '../packages/server/src/sandbox/fund.ts';
import * as stores from '../packages/server/src/stores/index.ts';
import * as storeKeys from '../packages/server/src/stores/keys/index.ts';
import { createDatabase } from './database.ts';
import { type CuttableProxy, openProxy } from './jobs/cuttable-proxy.ts';
import { type Answer, send } from './signed-request.ts';

const BATCHES = '/api/v1/payout-batches';
const ANSWER_WITHIN_MS = 15_000;
const batch = JSON.stringify({
  currency: 'USDT',
  items: [{ network: 'erc20', address: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '5.00' }],
});

let database: Awaited<ReturnType<typeof createDatabase>>;
let app: App;
let proxy: CuttableProxy;
let node: ChildProcess;
let url = '';
let logs = '';
let keys = { apiKey: '', secretKey: '' };

beforeAll(async () => {
  database = await createDatabase();
  await migrateAll(database.url, undefined);
  const masterKey = randomBytes(32);
  app = await openApp({ databaseUrl: database.url, masterKey, log: createLogger('silent'), poolSize: 4 });
  const merchant = await stores.createMerchant(app, { name: 'Outage', mode: 'sandbox' });
  const { merchantId } = merchant;
  await fund(app, merchant, { currency: 'USDT', network: 'erc20', amount: 1_000_000_000 });
  const storeId = await stores.createStore(app, { merchantId, name: 'Store', channelType: 'api' });
  await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
  keys = await storeKeys.createKey(app, {
    merchantId,
    storeId,
    name: 'Key',
    validityDays: 0,
    scopes: SCOPES,
  });
  proxy = await openProxy(database.url);
  node = spawn(process.execPath, [path.join(import.meta.dirname, 'fixtures', 'node.ts')], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: proxy.url,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
      FLORIN_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  node.stderr?.on('data', (chunk: Buffer) => {
    logs += chunk.toString();
  });
  const [first] = (await once(node.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  url = JSON.parse(first.toString()).baseUrl;
});

afterAll(async () => {
  node?.kill('SIGKILL');
  await proxy?.close();
  await app?.close();
  await database?.drop();
});

const create = (key: string) =>
  send(`${url}${BATCHES}`, keys, { body: batch, headers: { 'idempotency-key': key } });

/** The answer, which has to come soon. */
async function soon(asking: Promise<Answer>): Promise<Answer> {
  const startedMs = performance.now();
  const answer = await asking;
  expect(performance.now() - startedMs).toBeLessThan(ANSWER_WITHIN_MS);
  return answer;
}

const isOnline = () => expect(node.exitCode === null && node.signalCode === null).toBe(true);

test('a database that goes away is 503 in the format of each path, and all resumes by itself', {
  timeout: 90_000,
}, async () => {
  const paid = await create(randomUUID());
  expect(paid.status).toBe(200);
  const batchId = String(paid.json.batch_id);
  expect((await send(`${url}${BATCHES}/${batchId}/submit`, keys, { body: '{}' })).status).toBe(200);

  proxy.cut();
  const lost = randomUUID();
  for (let round = 0; round < 3; round++) {
    const [write, read, balances] = await Promise.all([
      soon(create(lost)),
      soon(send(`${url}${BATCHES}/${batchId}`, keys)),
      soon(send(`${url}/api/v1/balances`, keys)),
    ]);
    for (const answer of [write, read]) {
      expect([answer.status, answer.json]).toEqual([
        503,
        { code: 503, errorCode: 'service_unavailable', message: expect.any(String), data: null },
      ]);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect([balances.status, balances.json.error]).toMatchObject([
      503,
      { type: 'api_error', code: 'service_unavailable' },
    ]);
    expect(balances.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'not_ready' });
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/florin_build_info/);
    expect((await fetch(`${url}/docs/errors/service_unavailable`)).status).toBe(200);
  }
  isOnline();

  proxy.mend();
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);
  expect((await create(lost)).status).toBe(200);
  expect((await create(lost)).headers.get('idempotent-replayed')).toBe('true');
  const status = async () => (await send(`${url}${BATCHES}/${batchId}`, keys)).json.status;
  await expect.poll(status, { timeout: 40_000, interval: 500 }).toBe('completed');
  isOnline();
  expect(logs).not.toMatch(/unhandled|Uncaught/i);

  const ended = once(node, 'exit');
  node.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
