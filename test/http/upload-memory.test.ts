import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, migrateAll, openApp } from '../../packages/server/src/app.ts';
import { SCOPES } from '../../packages/server/src/platform/http/index.ts';
import { createLogger } from '../../packages/server/src/platform/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { createDatabase } from '../database.ts';
import { type Credentials, send, signedHeaders } from '../signed-request.ts';
import { requestText } from './raw-socket.ts';

/* What uploads cost a node that runs by itself: Linux says how much memory it has. */

const MB = 1_000_000;
const BODY = Buffer.alloc(1_048_576, ' ');
const UPLOADS = 1_500;
const FUND = '/api/v1/test_helpers/fund';

let database: Awaited<ReturnType<typeof createDatabase>>;
let app: App;
let node: ChildProcess;
let url = '';
let key: Credentials;
const sockets: Socket[] = [];

beforeAll(async () => {
  database = await createDatabase();
  await migrateAll(database.url, undefined);
  const masterKey = randomBytes(32);
  app = await openApp({ databaseUrl: database.url, masterKey, log: createLogger('silent'), poolSize: 4 });
  const { merchantId } = await stores.createMerchant(app, { name: 'Uploads', mode: 'sandbox' });
  const storeId = await stores.createStore(app, { merchantId, name: 'Store', channelType: 'api' });
  await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
  key = await stores.createKey(app, { merchantId, storeId, name: 'a', validityDays: 0, scopes: SCOPES });
  node = spawn(process.execPath, [path.join(import.meta.dirname, '..', 'fixtures', 'node.ts')], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
      FLORIN_LOG_LEVEL: 'error',
      FLORIN_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = (await once(node.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  url = JSON.parse(first.toString()).baseUrl;
});
afterAll(async () => {
  node?.kill('SIGKILL');
  await app?.close();
  await database?.drop();
});

/** Resident bytes of the node. */
const residentBytes = () =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))?.[1]) * 1_024;

/** All but the last byte of an upload, as far as the node reads it. */
async function upload(headers: Record<string, string>): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  const all = { ...headers, 'content-length': String(BODY.length) };
  socket.write(requestText(`POST ${FUND} HTTP/1.1`, Object.entries(all)));
  await new Promise((resolve) => socket.write(BODY.subarray(1), resolve));
}

/** @returns by how much the node grew at most */
async function peakOf(before: number, uploads: readonly Promise<void>[]): Promise<number> {
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, residentBytes() - before);
  }, 20);
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await Promise.race([Promise.all(uploads), pause(20_000)]);
  // The system takes whole uploads before the node reads them.
  await pause(3_000);
  clearInterval(look);
  return peak;
}

function hangUp(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

const balances = () => send(`${url}/api/v1/balances`, key);
const signed = () => signedHeaders(key, { body: BODY });

/** What a node takes for its connections and code, whatever comes over them. */
async function warmUp(): Promise<number> {
  for (let n = 0; n < 50; n++) expect((await balances()).status).toBe(200);
  return residentBytes();
}

/** Sockets, their parsers and what the collector has not collected yet; buffered, the uploads would be 1,573 MB. */
const STRANGERS_MB_MAX = 250;
/** The budget of 256 MiB, and what is on its way. */
const KNOWN_MB_MAX = 500;

test.skipIf(process.platform !== 'linux')(
  `${UPLOADS} uploads of 1 MiB without a known key are not kept`,
  async () => {
    const before = await warmUp();
    const unknown = 'Bearer fl_test_2zmUdnxBgTMSbFsk5DGh3j2eGGeUxpTe4j2LrUfvy8mQ';
    const strangers = [{ ...signed(), authorization: unknown }, { ...signed(), authorization: '' }, {}];
    const uploads = Array.from({ length: UPLOADS }, (_, at) => upload(strangers[at % 3] ?? {}));
    const peak = await peakOf(before, uploads);
    expect((await balances()).status).toBe(200);
    expect(peak / MB).toBeLessThan(STRANGERS_MB_MAX);
    hangUp();
  },
  180_000,
);

test.skipIf(process.platform !== 'linux')(
  'uploads of a known key take the budget at most, and others are served meanwhile',
  async () => {
    const before = await warmUp();
    const peak = await peakOf(
      before,
      Array.from({ length: 600 }, () => upload(signed())),
    );
    expect(peak / MB).toBeLessThan(KNOWN_MB_MAX);
    expect((await balances()).status).toBe(200);
    hangUp();
  },
  180_000,
);
