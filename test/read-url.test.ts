import { once } from 'node:events';
import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createUrlReader,
  isReadableUrl,
  type UrlReader,
  UrlUnread,
} from '../packages/server/src/platform/outbound/read-url.ts';
import { Authority, type Identity, selfSigned } from './webhooks/certificates.ts';

const LIMIT = 262_144;
const SECRET = 'key-of-the-operator';
const authority = new Authority();
const asked: string[] = [];

const manners: Record<string, RequestListener> = {
  '/good': (_request, response) => response.end('{"a":1}'),
  '/largest': (_request, response) => response.end('a'.repeat(LIMIT)),
  '/huge': (_request, response) => response.end('a'.repeat(LIMIT + 1)),
  '/endless': (_request, response) => {
    const more = () => {
      while (response.write('a'.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  },
  '/redirect': (_request, response) => response.writeHead(302, { location: '/good' }).end(),
  '/error': (_request, response) => response.writeHead(500).end('{"a":1}'),
  '/long-error': (_request, response) => response.writeHead(404).write('a'.repeat(100_000)),
  '/empty': (_request, response) => response.writeHead(204).end(),
  '/zipped': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}')),
  '/latin': (_request, response) => response.end(Buffer.from([0x22, 0xe9, 0x22])),
  '/silent': () => {},
  '/stuck': (_request, response) => response.write('{"a":'),
  '/drip': (_request, response) => {
    const timer = setInterval(() => response.write('1'), 20);
    response.on('close', () => clearInterval(timer));
  },
  '/cut': (request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('{"a":');
    setTimeout(() => request.socket.destroy(), 20);
  },
  '/reset': (request) => request.socket.destroy(),
};

const servers: Server[] = [];
let reader: UrlReader;
let hasty: UrlReader;
let good: string;

async function listen(identity: Identity): Promise<string> {
  const server = createServer(identity, (request, response) => {
    asked.push(request.url ?? '');
    manners[new URL(request.url ?? '', 'https://a').pathname]?.(request, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  good = await listen(authority.issue({ names: ['127.0.0.1'] }));
  reader = createUrlReader({ ca: authority.cert, timeoutMs: 30_000 });
  hasty = createUrlReader({ ca: authority.cert, timeoutMs: 300 });
});
afterAll(async () => {
  await Promise.all([reader.close(), hasty.close()]);
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function failureOf(url: string, by = reader): Promise<string> {
  const error: unknown = await by.read(url).then(String, (failure: unknown) => failure);
  if (!(error instanceof UrlUnread)) return `read: ${String(error)}`;
  // What is logged of it names no URL, as that may hold a key.
  expect(`${error.message}${error.stack ?? ''}${String(error.cause)}`).not.toContain(SECRET);
  return error.failure;
}

test('an answer is read to its end, up to the limit', async () => {
  expect(await reader.read(`${good}/good?key=${SECRET}`)).toBe('{"a":1}');
  expect(asked.at(-1)).toBe(`/good?key=${SECRET}`);
  expect(await reader.read(`${good}/largest`)).toHaveLength(LIMIT);
});

test.each([
  ['/huge', 'too_large'],
  ['/endless', 'too_large'],
  ['/redirect', 'status'],
  ['/error', 'status'],
  ['/long-error', 'status'],
  ['/empty', 'status'],
  ['/zipped', 'not_utf8'],
  ['/latin', 'not_utf8'],
  ['/cut', 'connection'],
  ['/reset', 'connection'],
])('%s is not read: %s', async (path, failure) => {
  asked.length = 0;
  expect(await failureOf(`${good}${path}?key=${SECRET}`)).toBe(failure);
  expect(new Set(asked)).toEqual(new Set([`${path}?key=${SECRET}`]));
  expect(await reader.read(`${good}/good`)).toBe('{"a":1}');
});

test.each(['/silent', '/stuck', '/drip'])('%s ends with the time', async (path) => {
  expect(await failureOf(`${good}${path}?key=${SECRET}`, hasty)).toBe('timeout');
});

test('no request is sent to a server with an invalid certificate', async () => {
  const wrong = [selfSigned({ names: ['127.0.0.1'] }), authority.issue({ names: ['other.example'] })];
  asked.length = 0;
  for (const identity of wrong) expect(await failureOf(`${await listen(identity)}/good`)).toBe('connection');
  const strict = createUrlReader({ timeoutMs: 30_000 });
  expect(await failureOf(`${good}/good`, strict)).toBe('connection');
  await strict.close();
  expect(asked).toEqual([]);
});

test('plain HTTP is read from this machine only', async () => {
  const server = createPlainServer((_request, response) => response.end('plain'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await reader.read(`http://127.0.0.1:${port}/`)).toBe('plain');
  server.close();
  server.closeAllConnections();
  expect(await failureOf(`http://127.0.0.1:${port}/`)).toBe('connection');
  expect(isReadableUrl('http://10.0.0.1/')).toBe(false);
  expect(await failureOf('http://10.0.0.1/')).toBe('connection');
});

test('a closed reader reads nothing more, and what was under way ends', async () => {
  const closing = createUrlReader({ ca: authority.cert, timeoutMs: 30_000 });
  asked.length = 0;
  const underWay = failureOf(`${good}/silent`, closing);
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBe(1);
  await closing.close();
  expect(await underWay).toBe('connection');
  expect(await failureOf(`${good}/good`, closing)).toBe('connection');
});
