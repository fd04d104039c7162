import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { SCOPES } from '@florin/contract/scopes';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, migrateAll, openApp } from '../packages/server/src/app.ts';
import { connect as openDatabase } from '../packages/server/src/platform/db/db.ts';
import { createLogger } from '../packages/server/src/platform/observability/log.ts';
import { fund } from '../packages/server/src/sandbox/fund.ts';
import * as storeApprovers from '../packages/server/src/stores/approvers/index.ts';
import * as stores from '../packages/server/src/stores/index.ts';
import * as storeKeys from '../packages/server/src/stores/keys/index.ts';
import { createDatabase } from './database.ts';
import { send, signedHeaders } from './signed-request.ts';

/*
 * G2 and fault 84, as far as one node goes: secrets are planted wherever a caller, an operator or a driver can put one,
 * then everything that the node wrote and refused is searched for them.
 */

let database: Awaited<ReturnType<typeof createDatabase>>;
let app: App;
let node: ChildProcess;
let url = '';
let logs = '';
const answers: string[] = [];
const planted = new Map<string, string>();

function plant(what: string, secret: string): string {
  planted.set(what, secret);
  return secret;
}
const anySecret = (what: string) => plant(what, randomBytes(18).toString('hex'));
const keyLike = (what: string) =>
  plant(what, `fls_test_${randomBytes(24).toString('hex').replaceAll('0', 'z')}`);

const masterKey = randomBytes(32);
const keys = { apiKey: '', secretKey: '' };
let approverToken = '';

beforeAll(async () => {
  database = await createDatabase();
  await migrateAll(database.url, undefined);
  app = await openApp({ databaseUrl: database.url, masterKey, log: createLogger('silent'), poolSize: 4 });
  for (const form of ['hex', 'base64', 'base64url'] as const)
    plant(`master key, ${form}`, masterKey.toString(form));
  plant('database password', new URL(database.url).password);
  const merchant = await stores.createMerchant(app, { name: 'Secrets', mode: 'sandbox' });
  const { merchantId } = merchant;
  await fund(app, merchant, { currency: 'USDT', network: 'erc20', amount: 1_000_000_000 });
  const storeId = await stores.createStore(app, { merchantId, name: 'Store', channelType: 'api' });
  await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
  for (const name of ['used', 'idle']) {
    const key = await storeKeys.createKey(app, {
      merchantId,
      storeId,
      name,
      validityDays: 0,
      scopes: SCOPES,
    });
    plant(`API key, ${name}`, key.apiKey);
    plant(`secret key, ${name}`, key.secretKey);
    if (name === 'used') Object.assign(keys, key);
  }
  approverToken = plant("approver's token", await storeApprovers.addApprover(app, merchantId, 'Ada'));
  await startNode();
});

afterAll(async () => {
  node?.kill('SIGKILL');
  await app?.close();
  await database?.drop();
});

async function startNode(): Promise<void> {
  node = spawn(process.execPath, [path.join(import.meta.dirname, 'fixtures', 'node.ts')], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
      FLORIN_LOG_LEVEL: 'debug',
      FLORIN_PORT: '0',
      OTHER_SECRET: anySecret('environment'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  node.stderr?.on('data', (chunk: Buffer) => {
    logs += chunk.toString();
  });
  const [first] = (await once(node.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  url = JSON.parse(first.toString()).baseUrl;
}

const BATCHES = '/api/v1/payout-batches';

/** Sends a signed request; what is not 200 is kept to be searched. */
async function call(
  at: string,
  body?: string,
  headers: Record<string, string> = {},
  method?: string,
): Promise<number> {
  const init = {
    headers,
    ...(body === undefined ? {} : { body }),
    ...(method === undefined ? {} : { method }),
  };
  const answer = await send(`${url}${at}`, keys, init);
  if (answer.status !== 200) answers.push(JSON.stringify([...answer.headers]) + answer.text);
  return answer.status;
}

/** Bytes as they are, to answers that no client would make. */
async function sendBytes(text: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  answers.push(answer);
}

async function plantInHeaders(): Promise<void> {
  const signed = () => signedHeaders(keys);
  const refused = async (headers: Record<string, string>) => {
    const answer = await fetch(`${url}${BATCHES}`, { headers: { ...signed(), ...headers } });
    answers.push(JSON.stringify([...answer.headers]) + (await answer.text()));
  };
  await refused({ authorization: `Bearer ${anySecret('another bearer token')}` });
  await refused({ authorization: `Basic ${anySecret('basic credentials')}` });
  await refused({ authorization: keyLike('authorization without a scheme') });
  await refused({ 'x-service-signature': anySecret('signature') });
  await refused({ 'x-service-timestamp': anySecret('timestamp') });
  await refused({ 'x-service-version': anySecret('version') });
  await refused({ authorization: `Bearer ${approverToken}` });
  await refused({ 'x-request-id': keyLike('request id') });
  await refused({ cookie: anySecret('cookie'), 'x-service-nonce': 'short' });
  await refused({ 'user-agent': anySecret('user agent'), 'x-service-nonce': 'short' });
  await refused({
    traceparent: anySecret('traceparent'),
    referer: `https://a/?t=${anySecret('referer')}`,
  });
  expect(
    await call(BATCHES, '{}', { 'content-type': anySecret('content type'), 'idempotency-key': 'a' }),
  ).toBe(415);
  expect(await call(BATCHES, '{}', { 'idempotency-key': `${anySecret('idempotency key')}\u00e9` })).toBe(400);
}

async function plantInPaths(): Promise<void> {
  expect(await call(`/api/v1/balances?api_key=${anySecret('query value')}`)).toBe(400);
  expect(await call(`/api/v1/balances?${keyLike('query name')}=1`)).toBe(400);
  expect(await call(`/api/v1/${anySecret('unknown path')}`)).toBe(404);
  expect(await call(`${BATCHES}/${keyLike('path parameter')}`)).toBe(404);
  expect(await call(`/api/v1/balances/%zz${anySecret('undecodable path')}`)).toBe(404);
  expect(await call(`/docs/sign?${anySecret('documentation query')}`, '{}')).toBe(404);
}

async function plantInBodies(): Promise<void> {
  const item = { network: 'erc20', address: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '5.00' };
  const create = (body: string) => call(BATCHES, body, { 'idempotency-key': randomBytes(8).toString('hex') });
  const batch = (changes: object, of: object = item) =>
    JSON.stringify({ currency: 'USDT', items: [of], ...changes });
  expect(await create(batch({ secret_key: anySecret('field of a body') }))).toBe(400);
  expect(await create(batch({ [keyLike('name of a field')]: 1 }))).toBe(400);
  expect(await create(batch({ currency: anySecret('currency') }))).toBe(400);
  expect(await create(batch({}, { ...item, amount: anySecret('amount') }))).toBe(400);
  expect(await create(batch({}, { ...item, [keyLike('name in an item')]: {} }))).toBe(400);
  expect(await create(`{"a":"${anySecret('body that breaks off')}`)).toBe(400);
  expect(await create(`{"a":1,"a":"${anySecret('repeated field')}"}`)).toBe(400);
  expect(await create(anySecret('body that is no JSON'))).toBe(400);
  expect(await create(`{"password":"${anySecret('NUL in a body')}\\u0000"}`)).toBe(400);
  // Taken and kept: stored for the merchant, and in no log.
  expect(await create(batch({ description: anySecret('description') }))).toBe(200);
}

async function plantInBytes(): Promise<void> {
  await sendBytes(`${anySecret('bytes that are no request')}\r\n\r\n`);
  await sendBytes(`GET / HTTP/1.1\r\nHost: a\r\nBad Header ${anySecret('broken header')}\r\n\r\n`);
  await sendBytes(
    `POST /api/v1/balances HTTP/1.1\r\nHost: a\r\nContent-Length: x${anySecret('length')}\r\n\r\n`,
  );
}

async function breakThings(): Promise<void> {
  const owner = openDatabase({ url: database.url, poolSize: 1 });
  await sql`alter table ledger_account rename to ledger_account_away`.execute(owner);
  expect(await call('/api/v1/balances')).toBe(500);
  await sql`alter table ledger_account_away rename to ledger_account`.execute(owner);
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(owner);
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 60_000 }).toBe(200);
  await owner.destroy();
}

test('G2, 84: 40 planted secrets are in no log, no refusal and no metric', { timeout: 60_000 }, async () => {
  await plantInHeaders();
  await plantInPaths();
  await plantInBodies();
  await plantInBytes();
  await breakThings();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const ended = once(node, 'close');
  node.kill('SIGTERM');
  await ended;

  expect(planted.size).toBeGreaterThanOrEqual(40);
  // What is searched is not empty: the search could not fail otherwise.
  expect(answers.length).toBeGreaterThanOrEqual(30);
  expect(metrics).toContain('florin_http_request_duration_seconds');
  const lines = logs
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.length).toBeGreaterThan(30);
  expect(lines.some(({ err }) => err !== undefined)).toBe(true);
  const ofBytes = lines.filter(({ reason }) => String(reason).startsWith('HPE_'));
  expect(ofBytes.map(({ msg, status }) => [msg, status])).toEqual(Array(3).fill(['request', 400]));
  const found = [...planted].flatMap(([what, secret]) =>
    Object.entries({ logs, metrics, answers: answers.join('\n') }).flatMap(([place, text]) =>
      text.includes(secret) ? [`${what} in ${place}`] : [],
    ),
  );
  expect(found).toEqual([]);
});

test('every line about a request carries its id', () => {
  const lines = logs
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ofRequests = lines.filter(({ msg, err }) => msg === 'request' || err !== undefined);
  const others = ofRequests.filter(({ request_id, msg }) => request_id === undefined && msg !== undefined);
  // These concern no request, or many.
  const known = /database connection broke|missing in the request log/;
  expect(others.filter(({ msg }) => !known.test(String(msg)))).toEqual([]);
});
