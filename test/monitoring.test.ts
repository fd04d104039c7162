import { request } from 'node:http';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { monitoringPages } from '../packages/server/src/app.ts';
import {
  createStateReader,
  healthPages,
  listenForMonitoring,
} from '../packages/server/src/monitoring/index.ts';
import { connect } from '../packages/server/src/platform/db/db.ts';
import { transact } from '../packages/server/src/platform/db/transact.ts';
import { enqueue } from '../packages/server/src/platform/jobs/index.ts';
import { verifyLedger } from '../packages/server/src/reconciliation/verify-ledger.ts';
import { exchange } from './http/raw-socket.ts';
import { type Readiness, readReadiness } from './readiness.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';
import { send, signedHeaders } from './signed-request.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
});

afterAll(async () => await service?.stop());

const metrics = async () => await (await fetch(`${service.baseUrl}/metrics`)).text();
/** The value of the one sample that has all these labels. */
function sampleOf(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text
    .split('\n')
    .find(
      (each) =>
        (each.startsWith(`${name}{`) || each.startsWith(`${name} `)) && wanted.every((w) => each.includes(w)),
    );
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
const requests = 'florin_http_request_duration_seconds_count';

test('requests are counted by their route template', async () => {
  for (let i = 0; i < 3; i++) await send(`${service.baseUrl}/api/v1/payout-batches/pb_${i}`, merchant);
  for (let i = 0; i < 3; i++) await fetch(`${service.baseUrl}/no/such/path/${i}`, { method: 'PURGE' });
  const text = await metrics();
  const route = '/api/v1/payout-batches/{batch_id}';
  expect(sampleOf(text, requests, { method: 'GET', route, status: '404' })).toBe(3);
  expect(sampleOf(text, requests, { method: 'other', route: 'unmatched', status: '401' })).toBe(3);
  expect(text).not.toMatch(/pb_\d|no\/such/);
  expect(sampleOf(text, 'florin_http_request_duration_seconds_bucket', { route, le: '10' })).toBe(3);
});

test('malformed requests are counted, too', async () => {
  const count = async () =>
    sampleOf(await metrics(), requests, { method: 'other', route: 'unmatched', status: '400' }) ?? 0;
  const before = await count();
  const { answers } = await exchange(service.baseUrl, 'no request at all\r\n\r\n');
  expect(answers.map(({ status }) => status)).toEqual([400]);
  expect(await count()).toBe(before + 1);
});

test('401 responses are counted by reason, including replays', async () => {
  const before = await metrics();
  const headers = signedHeaders(merchant);
  const url = `${service.baseUrl}/api/v1/balances`;
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await fetch(url, { headers })).status);
  const wrong = { ...merchant, secretKey: 'wrong' };
  statuses.push((await send(url, wrong)).status, (await fetch(url)).status);
  expect(statuses).toEqual([200, 401, 401, 401, 401]);
  const after = await metrics();
  const rose = (reason: string) =>
    (sampleOf(after, 'florin_authentication_refusals_total', { reason }) ?? 0) -
    (sampleOf(before, 'florin_authentication_refusals_total', { reason }) ?? 0);
  expect([rose('nonce'), rose('signature'), rose('headers')]).toEqual([2, 1, 1]);
});

test('the process, its connections and its build are shown', async () => {
  const text = await metrics();
  expect(sampleOf(text, 'florin_database_up')).toBe(1);
  expect(sampleOf(text, 'florin_database_connections', { pool: 'main', state: 'total' })).toBeGreaterThan(0);
  expect(sampleOf(text, 'florin_build_info', { version: '0.1.0' })).toBe(1);
  for (const name of [
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
    'florin_clock_offset_seconds',
  ])
    expect(sampleOf(text, name), name).toBeTypeOf('number');
});

test('the database state is read at most every five seconds and shared by all clients', async () => {
  const [first, second] = await Promise.all([service.app.readState(), service.app.readState()]);
  expect(second).toBe(first);
  expect(await service.app.readState()).toBe(first);
});

test('/metrics is available on this machine only', async () => {
  const ask = async (headers: Record<string, string>) => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    request(`${service.baseUrl}/metrics`, { headers }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
    return await promise;
  };
  expect(await ask({})).toBe(200);
  expect(await ask({ host: 'pay.example' })).toBe(404);
  expect(await ask({ 'x-forwarded-for': '203.0.113.9' })).toBe(404);
});

test('jobs, transfers, ledger and the last comparison are shown on a separate address', async () => {
  const { app } = service;
  const own = { ...app, readState: createStateReader(app.db, app.clock) };
  const dueAtMs = own.clock.nowMs() - 60_000;
  const late = { merchantId: merchant.merchantId, kind: 'test.nobody-runs-it', dueAtMs };
  await transact(own.db, (tx) => enqueue(tx, [late, late]));
  const report = await verifyLedger(own, () => {});
  expect(report.differences).toEqual([]);
  const listener = await listenForMonitoring(monitoringPages(own), { host: '127.0.0.1', port: 0 });
  const text = await (await fetch(`${listener.url}/metrics`)).text();
  const labels = { kind: 'test.nobody-runs-it' };
  expect(sampleOf(text, 'florin_jobs_waiting', labels)).toBe(2);
  expect(sampleOf(text, 'florin_jobs_late', labels)).toBe(2);
  expect(sampleOf(text, 'florin_jobs_lateness_seconds', labels)).toBeGreaterThan(59);
  expect(sampleOf(text, 'florin_jobs_failing', labels)).toBe(0);
  expect(sampleOf(text, 'florin_ledger_imbalance_units', { currency: 'USDT' })).toBe(0);
  expect(sampleOf(text, 'florin_ledger_differences')).toBe(0);
  expect(sampleOf(text, 'florin_ledger_verified_timestamp_seconds')).toBeCloseTo(
    own.clock.nowMs() / 1000,
    -2,
  );
  const ready = (await (await fetch(`${listener.url}/readyz`)).json()) as Readiness;
  expect(ready.checks).toContainEqual({
    name: 'workers',
    status: 'warning',
    message: '2 jobs are due and no worker runs (florin work)',
  });
  expect(ready.status).toBe('ready');
  const told = await (await fetch(`${service.baseUrl}/readyz`)).text();
  expect(JSON.parse(told)).toEqual({ status: 'ready' });
  expect((await fetch(`${listener.url}/openapi.json`)).status).toBe(404);
  await listener.close();
});

const readiness = (changed: Partial<Parameters<typeof healthPages>[0]>) =>
  readReadiness(healthPages({ ...service.app, ...changed }, 'checks'));

test('readiness names the problem', async () => {
  expect((await readiness({}))[0]).toBe(200);
  const nobody = connect({ url: 'postgres://a:b@127.0.0.1:1/a', poolSize: 1 });
  const [status, { checks }] = await readiness({ simulatedDb: nobody, clock: { offsetMs: 45_000 } });
  expect(status).toBe(503);
  expect(checks.filter((check) => check.status === 'failed')).toEqual([
    {
      name: 'simulated_chains',
      status: 'failed',
      message: 'the database of the simulated chains does not answer',
    },
    { name: 'clock', status: 'failed', message: "this machine's clock is 45 s behind the database's" },
  ]);
  const away = await readiness({ db: nobody });
  expect(away[0]).toBe(503);
  expect(away[1].checks[0]).toMatchObject({ name: 'database', status: 'failed' });
  await nobody.destroy();
});

test('a migration that is not applied yet is named', async () => {
  await transact(service.app.db, async (tx) => {
    await sql`delete from kysely_migration where name = '0001_foundation'`.execute(tx);
    const [status, { checks }] = await readiness({ db: tx });
    expect(status).toBe(503);
    expect(checks).toContainEqual({
      name: 'migrations',
      status: 'failed',
      message: 'to apply: 0001_foundation (run florin migrate)',
    });
    throw new Error('undo');
  }).catch((error: Error) => expect(error.message).toBe('undo'));
});
