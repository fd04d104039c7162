import { execFile, spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { curlCommand } from './curl.ts';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('skipped: there is no curl on this machine');

interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let received: Received[] = [];
const server = createServer((request, response) => {
  const { method = '', url = '', headers } = request;
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push({ method, url, headers, body: Buffer.concat(chunks) });
    response.end();
  });
});
let base = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

/** Runs the command and returns its one request. A script is passed on standard input, as in `florin sign … | sh`. */
async function send(command: string): Promise<Received> {
  received = [];
  const shell = run('sh', [], { maxBuffer: 1e7 });
  shell.child.stdin?.end(command);
  await shell;
  expect(received).toHaveLength(1);
  return received[0] as Received;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

test.skipIf(!hasCurl)('curl sends the very bytes that were signed', async () => {
  const bodies = fc
    .string({ unit: 'binary', minLength: 1 })
    .map((text) => text.toWellFormed().replaceAll('\0', '0'));
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const command = curlCommand({ method: 'POST', url: `${base}/x`, headers: JSON_TYPE, body });
      expect((await send(command)).body).toEqual(Buffer.from(body));
    }),
    { numRuns: 25, examples: [["@/etc/hostname'"], ['{"a":"it\'s\\n$HOME `id`"}\r\n'], ['@-']] },
  );
});

test.skipIf(!hasCurl)('a body larger than one argument may be arrives whole', async () => {
  const body = JSON.stringify({ description: "it's ".repeat(60_000) });
  const { body: arrived } = await send(
    curlCommand({ method: 'POST', url: `${base}/x`, headers: JSON_TYPE, body }),
  );
  expect(arrived.equals(Buffer.from(body))).toBe(true);
});

test.skipIf(!hasCurl)('method, address and headers arrive as given', async () => {
  const headers = { Authorization: 'Bearer fl_test_x', 'Idempotency-Key': 'order "17" of $HOME' };
  const url = `${base}/api/v1/subscriptions?expand[]=customer&limit=5`;
  const got = await send(curlCommand({ method: 'DELETE', url, headers, body: '' }));
  expect(got).toMatchObject({ method: 'DELETE', url: '/api/v1/subscriptions?expand[]=customer&limit=5' });
  expect(got.headers).toMatchObject({
    authorization: 'Bearer fl_test_x',
    'idempotency-key': 'order "17" of $HOME',
  });
  const read = await send(curlCommand({ method: 'GET', url: `${base}/a`, headers: JSON_TYPE, body: '{}' }));
  expect([read.method, read.body.toString()]).toEqual(['GET', '{}']);
});
