import { randomUUID } from 'node:crypto';
import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { firstIdAt, NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { connect } from '../../packages/server/src/platform/db/index.ts';
import type { Exchange } from '../../packages/server/src/platform/http/exchanges/index.ts';
import type { JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { Metrics } from '../../packages/server/src/platform/observability/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { RequestLog } from '../../packages/server/src/request-log/index.ts';
import { RowBuilder } from '../../packages/server/src/request-log/row-builder.ts';
import { REQUEST_LOG_SETTINGS } from '../../packages/server/src/request-log/settings.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/index.ts';
import { jobHandlers } from '../../packages/server/src/workers.ts';
import { openFaultProxy } from '../faults/proxy.ts';
import { query } from '../http/rows.ts';
import { jobOf } from '../job.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';

const RUN: JobRun = {
  step: () => Promise.reject(new Error('unused')),
  finish: () => Promise.reject(new Error('unused')),
  onRevision: () => {},
  signal: new AbortController().signal,
};

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const rows = async (where = 'true') =>
  (await query(service, `select request_id from request_log where ${where}`)).length;

/** A log of its own on a database, with its metrics and the lines that it writes. */
function openLog(url = service.app.databaseUrl) {
  const metrics = new Metrics('0');
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line) => void lines.push(line) });
  const db = connect({ url, poolSize: 1, statementMs: 3_000 });
  const requestLog = new RequestLog({ db, vault: service.app.vault, log, metrics });
  const lost = async (reason: string) =>
    Number(
      new RegExp(`florin_request_log_lost_total{reason="${reason}"} (\\d+)`).exec(
        await metrics.text(),
      )?.[1] ?? 0,
    );
  return { requestLog, lines, lost };
}

const exchangeOf = (change: Partial<Exchange> = {}): Exchange => ({
  method: 'GET',
  url: '/api/v1/balances',
  headers: { authorization: `Bearer ${merchant.apiKey}` },
  repeated: new Set(),
  remoteAddress: '127.0.0.1',
  requestId: `mine-${randomUUID()}`,
  isCallersId: true,
  route: '/api/v1/balances',
  caller: {
    ...merchant,
    actor: { kind: 'key', keyId: merchant.keyId },
    mode: 'sandbox',
    scopes: [],
    ownerId: null,
    people: [],
    clockOffset: 0,
  },
  body: undefined,
  bodyBytes: 0,
  refusedBody: undefined,
  status: 200,
  seconds: 0.01,
  errorCode: undefined,
  refusal: undefined,
  answer: '{}',
  answeredAtMs: Date.now(),
  ...change,
});

test('a database that is away: nothing waits, nothing throws, all is counted and said once', async () => {
  const { requestLog, lines, lost } = openLog('postgres://nobody@127.0.0.1:1/none');
  const startMs = performance.now();
  for (let i = 0; i < 2_000; i++) requestLog.record(exchangeOf());
  // Had each waited for a connection, it would have been minutes.
  expect(performance.now() - startMs).toBeLessThan(20_000);
  await requestLog.flush();
  expect(await lost('database')).toBe(2_000);
  requestLog.record(exchangeOf());
  await requestLog.flush();
  expect([await lost('database'), lines.length]).toEqual([2_001, 1]);
  await requestLog.close();
});

test('a full buffer takes no more, whether by requests or by their length', async () => {
  for (const [change, sent, kept] of [
    [{}, 6_000, 5_000],
    [{ answer: 'x'.repeat(1_000_000) }, 20, 16],
    [{ headers: { authorization: `Bearer ${merchant.apiKey}`, 'x-a': 'x'.repeat(1_000_000) } }, 20, 16],
  ] as const) {
    const { requestLog, lost } = openLog();
    for (let i = 0; i < sent; i++) requestLog.record(exchangeOf(change));
    expect(await lost('buffer_full')).toBe(sent - kept);
    await requestLog.flush();
    requestLog.record(exchangeOf());
    expect(await lost('buffer_full')).toBe(sent - kept);
    await requestLog.close();
  }
});

test('a shutdown writes what waits, and does not wait for a database that hangs', async () => {
  const before = await rows();
  const { requestLog } = openLog();
  for (let i = 0; i < 10; i++) requestLog.record(exchangeOf());
  await requestLog.close();
  expect(await rows()).toBe(before + 10);

  const blocked = openLog();
  const locking = service.app.db.transaction().execute(async (tx) => {
    await sql`lock table request_log in access exclusive mode`.execute(tx);
    blocked.requestLog.record(exchangeOf());
    const startMs = performance.now();
    await blocked.requestLog.close();
    return performance.now() - startMs;
  });
  expect(await locking).toBeLessThan(6_000);
});

test('a row that the database refuses takes no other one with it', async () => {
  const { requestLog, lost } = openLog();
  // What the test before left behind may be written meanwhile.
  requestLog.record(exchangeOf({ status: 418 }));
  requestLog.record(exchangeOf({ status: 1e6 }));
  requestLog.record(exchangeOf({ status: 418 }));
  await requestLog.flush();
  expect([await lost('database'), await rows('status = 418')]).toEqual([1, 2]);
  await requestLog.close();
});

test('a group whose answer is lost is written again, and each row once', async () => {
  const proxy = await openFaultProxy(service.app.databaseUrl);
  const { requestLog, lost } = openLog(proxy.url);
  const cut = proxy.ambush({ statement: /insert into request_log/, when: 'after' });
  for (let i = 0; i < 3; i++) requestLog.record(exchangeOf({ status: 207 }));
  await requestLog.flush();
  await cut;
  expect([await lost('database'), await rows('status = 207')]).toEqual([0, 3]);
  await requestLog.close();
  await proxy.close();
});

test('a group that takes the database too long is written in parts', async () => {
  const before = await rows();
  const { requestLog, lost } = openLog();
  await query(
    service,
    `create function refuse_many() returns trigger language plpgsql as $$ begin
       if (select count(*) from written) > 50 then raise exception using errcode = '57014'; end if;
       return null; end $$;
     create trigger refuse_many after insert on request_log referencing new table as written
       for each statement execute function refuse_many()`,
  );
  for (let i = 0; i < 120; i++) requestLog.record(exchangeOf());
  await requestLog.flush();
  await query(service, 'drop function refuse_many cascade');
  expect([await lost('database'), await rows()]).toEqual([0, before + 120]);
  await requestLog.close();
});

test('a group ends at a mebibyte of texts, and a full one does not wait', async () => {
  const { requestLog } = openLog();
  await query(
    service,
    `create table group_size (n int);
     create function count_group() returns trigger language plpgsql as $$ begin
       insert into group_size select count(*) from written; return null; end $$;
     create trigger count_group after insert on request_log referencing new table as written
       for each statement execute function count_group()`,
  );
  for (let i = 0; i < 40; i++) requestLog.record(exchangeOf({ answer: 'x'.repeat(100_000) }));
  await requestLog.flush();
  const sizes = await query(service, 'select n from group_size order by n');
  expect(sizes).toEqual([{ n: 7 }, { n: 11 }, { n: 11 }, { n: 11 }]);
  await query(service, 'delete from group_size');
  // `flush` is not called and the timer does not run: the full group alone can begin the write.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    for (let i = 0; i < 500; i++) requestLog.record(exchangeOf());
    for (let i = 0; i < 5_000 && (await query(service, 'select from group_size')).length === 0; i++)
      await untilNextTurn();
  } finally {
    vi.useRealTimers();
  }
  expect(await query(service, 'select n from group_size')).toEqual([{ n: 500 }]);
  await query(service, 'drop function count_group cascade; drop table group_size');
  await requestLog.close();
});

test('what was refused for being too much is recorded up to a limit, and without bodies', async () => {
  const { requestLog, lost } = openLog();
  const answeredAtMs = Date.now();
  for (let i = 0; i < 150; i++)
    requestLog.record(exchangeOf({ status: 429, body: '{}', bodyBytes: 2, answeredAtMs }));
  await requestLog.flush();
  const kept = `status = 429 and request_body is null and answer_body is null and request_bytes = 2`;
  expect([await lost('too_many_refused'), await rows(kept)]).toEqual([50, 100]);
  await requestLog.close();
});

test('a refusal that cannot be explained is recorded without, and takes no other one with it', async () => {
  const before = await rows();
  const { requestLog, lines, lost } = openLog();
  const broken = await service.createMerchant({ funds: 0n });
  await query(service, `update api_key set secret = 'none' where key_id = $1`, [broken.keyId]);
  const headers = { authorization: `Bearer ${broken.apiKey}` };
  const deep = Buffer.from(`${'['.repeat(8_192)}${']'.repeat(8_192)}`);
  requestLog.record(exchangeOf());
  requestLog.record(
    exchangeOf({ caller: undefined, headers, status: 401, refusal: 'signature', refusedBody: deep }),
  );
  requestLog.record(exchangeOf());
  await requestLog.flush();
  expect([await lost('database'), await lost('error'), await rows(), lines.length]).toEqual([
    0,
    0,
    before + 3,
    1,
  ]);
  await requestLog.close();
});

test('a refused request whose key cannot be looked up takes no other one with it', async () => {
  const before = await rows();
  const { requestLog, lost } = openLog();
  await query(service, 'alter table api_key rename to api_key_away');
  requestLog.record(exchangeOf());
  requestLog.record(exchangeOf({ caller: undefined, status: 401, refusal: 'signature' }));
  requestLog.record(exchangeOf());
  await requestLog.flush();
  await query(service, 'alter table api_key_away rename to api_key');
  expect([await lost('database'), await rows()]).toEqual([1, before + 2]);
  await requestLog.close();
});

test('refused requests of one key are recorded up to a limit; rightly signed ones all', {
  timeout: 120_000,
}, async () => {
  const before = await rows();
  const { requestLog, lost } = openLog();
  const answeredAtMs = Date.now();
  const refused = { caller: undefined, status: 401, refusal: 'signature', answeredAtMs };
  for (let i = 0; i < 500; i++) requestLog.record(exchangeOf(refused));
  for (let i = 0; i < 500; i++) requestLog.record(exchangeOf());
  await requestLog.flush();
  expect([await lost('too_many_refused'), await rows()]).toEqual([400, before + 600]);
  const ofKey = `status = 401 and key_id = '${merchant.keyId}'`;
  const explained = await rows(
    `${ofKey} and explanation->'payload' is not null and explanation->'steps' <> '[]'`,
  );
  expect(explained).toBeGreaterThan(0);
  // One client leaves explanations to others: 5 of 20.
  expect(explained).toBeLessThanOrEqual(6);
  expect(await rows(`${ofKey} and explanation->>'summary' like 'Not explained: too many%'`)).toBeGreaterThan(
    90,
  );
  await requestLog.close();
});

test('one address leaves room to others where the key is not looked up', async () => {
  const before = await rows();
  const { requestLog, lost } = openLog();
  const refused = { caller: undefined, status: 401, refusal: 'headers', answeredAtMs: Date.now() };
  for (let i = 0; i < 300; i++) requestLog.record(exchangeOf(refused));
  requestLog.record(exchangeOf({ ...refused, remoteAddress: '127.0.0.2' }));
  await requestLog.flush();
  expect([await lost('too_many_refused'), await rows()]).toEqual([250, before + 51]);
  await requestLog.close();
});

test('refused requests of one key have 2,000 rows a day', { timeout: 120_000 }, async () => {
  const before = await rows();
  const { requestLog, lost } = openLog();
  const startMs = Date.now();
  for (let i = 0; i < 2_100; i++)
    requestLog.record(exchangeOf({ caller: undefined, status: 413, answeredAtMs: startMs + i * 200 }));
  await requestLog.flush();
  // 9 more flowed in meanwhile.
  expect([await lost('too_many_refused'), await rows()]).toEqual([91, before + 2_009]);
  await requestLog.close();
});

test('a stranger with an API key stores little of each request, whatever its bytes are', async () => {
  const { requestLog } = openLog();
  const requestId = `mine-${randomUUID()}`;
  const body = Buffer.alloc(16_384, 0xff);
  requestLog.record(
    exchangeOf({
      requestId,
      caller: undefined,
      status: 401,
      refusal: 'signature',
      url: `/${'\u00ff'.repeat(8_000)}?${'\u00ff'.repeat(8_000)}`,
      headers: { authorization: `Bearer ${merchant.apiKey}`, 'x-a': '\u00ff'.repeat(14_000) },
      body: body.toString(),
      bodyBytes: body.length,
      refusedBody: body,
    }),
  );
  await requestLog.flush();
  const [row] = await query(
    service,
    `select octet_length(r::text) as bytes, explanation->'payload'->'bytes' as payload from request_log r
     where callers_id = '${requestId}'`,
  );
  expect(row).toMatchObject({ bytes: expect.toSatisfy((bytes: number) => bytes < 8_192) });
  await requestLog.close();
});

test('requests have a turn after each 128 kB that are redacted', async () => {
  const pauses: number[] = [];
  let built = 0;
  const builder = new RowBuilder(
    service.app,
    () => {},
    async () => void pauses.push(built),
  );
  const group = Array.from({ length: 100 }, () => exchangeOf({ answer: 'x'.repeat(16_000) }));
  // Each exchange is asked for its route once, when its row is built.
  const counted = group.map((one) => ({
    ...one,
    get route() {
      built++;
      return one.route;
    },
  }));
  expect(await builder.of(counted)).toHaveLength(100);
  const steps = pauses.map((at, i) => at - (pauses[i - 1] ?? 0));
  expect([steps.length >= 12, Math.max(...steps) <= 8]).toEqual([true, true]);
});

test('old days are dropped after the time of the setting, events apart', async () => {
  const { db } = service.app;
  const old = (days: number) => firstIdAt(Date.now() - days * 86_400_000).replace(/0$/, '1');
  const insert = async (days: number) => {
    const [row] = await db.selectFrom('request_log').selectAll().limit(1).execute();
    if (row !== undefined)
      await db
        .insertInto('request_log')
        .values({ ...row, request_id: old(days) })
        .execute();
  };
  await send(`${service.baseUrl}/api/v1/balances`, merchant);
  await service.app.requestLog?.flush();
  for (const days of [3, 20, 40]) await insert(days);
  const left = async () => await rows(`request_id < '${firstIdAt(Date.now() - 2 * 86_400_000)}'`);
  expect(await left()).toBe(3);
  const maintain = async () =>
    await jobHandlers(service.app).get('events.maintain-days')?.(jobOf(NIL_ID, {}), RUN);
  await maintain();
  expect(await left()).toBe(2);
  await writeSetting(db, NIL_ID, REQUEST_LOG_SETTINGS.retentionDays, '5');
  // A failure with the events, which come first, holds up no other table.
  await query(service, 'alter table event rename to event_away');
  await expect(maintain()).rejects.toThrow('event');
  await query(service, 'alter table event_away rename to event');
  expect(await left()).toBe(1);
});

test('two nodes write into one log, each request once', async () => {
  const second = await service.addNode();
  const before = await rows();
  const calls = Array.from({ length: 60 }, (_, i) =>
    send(`${i % 2 === 0 ? service.baseUrl : second}/api/v1/balances`, merchant),
  );
  const ids = (await Promise.all(calls)).map(({ headers }) => headers.get('x-request-id'));
  await expect.poll(() => rows(), { timeout: 30_000 }).toBe(before + 60);
  expect(new Set(ids).size).toBe(60);
});
