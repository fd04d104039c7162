import { request } from 'node:http';
import { PAYOUT_ERRORS, STRUCTURED_ERRORS } from '@florin/contract/errors';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiServer } from '../packages/server/src/app.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';

let service: TestService;
let merchant: TestMerchant;
let sandbox: FastifyInstance;
let url = '';

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
  sandbox = createApiServer(service.app, {
    publicUrl: () => url,
    rate: { perSecond: 100, burst: 100 },
    tryOutKey: { apiKey: merchant.apiKey, secretKey: merchant.secretKey },
  });
  url = await sandbox.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await sandbox?.close();
  await service?.stop();
});

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** As raw as it gets: `fetch` sets Host and Origin by itself. */
async function call(path: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sending = request(
    `${url}${path}`,
    { method: body === undefined ? 'GET' : 'POST', headers },
    (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    },
  );
  sending.on('error', reject);
  sending.end(body);
  return await promise;
}

const toSign = JSON.stringify({ method: 'GET', path: '/api/v1/balances', body: '' });
const host = () => new URL(url).host;
const port = () => new URL(url).port;

describe('signing for the reference page', () => {
  test('the sandbox signs for its own page, and the signature is taken', async () => {
    const reply = await call('/docs/sign', { origin: url }, toSign);
    expect(reply.status).toBe(200);
    const { headers } = JSON.parse(reply.text) as { headers: Record<string, string> };
    const balances = await call('/api/v1/balances', {
      ...headers,
      authorization: `Bearer ${merchant.apiKey}`,
    });
    expect(balances.status).toBe(200);
    expect(reply.text).not.toContain(merchant.secretKey);
  });

  const REFUSED: [what: string, headers: () => Record<string, string>][] = [
    ['no origin', () => ({})],
    ['another origin', () => ({ origin: 'https://evil.example' })],
    ['another port of this machine', () => ({ origin: 'http://127.0.0.1:1' })],
    ['an origin that hides', () => ({ origin: 'null' })],
    [
      'a name that was made to point here',
      () => ({ host: `evil.example:${port()}`, origin: `http://evil.example:${port()}` }),
    ],
    [
      'a name that only begins right',
      () => ({ host: `127.0.0.1.evil.example:${port()}`, origin: `http://127.0.0.1.evil.example:${port()}` }),
    ],
    ['a caller behind a proxy', () => ({ origin: url, 'x-forwarded-for': '203.0.113.9' })],
    ['a page of another site, by the browser', () => ({ origin: url, 'sec-fetch-site': 'cross-site' })],
  ];
  for (const [what, headers] of REFUSED) {
    test(`${what} is refused`, async () => {
      const reply = await call('/docs/sign', { host: host(), ...headers() }, toSign);
      expect(reply.status).toBe(403);
      expect(reply.text).not.toContain('headers');
    });
  }

  test('a body that is no request of the API is refused', async () => {
    for (const body of ['', '[]', '{"a":1}', toSign.replace('/api/v1/', '//evil.example/')]) {
      expect((await call('/docs/sign', { origin: url }, body)).status).toBe(400);
    }
  });

  test('signatures are limited', async () => {
    const replies = await Promise.all(
      Array.from({ length: 400 }, () => call('/docs/sign', { origin: url }, toSign)),
    );
    const limited = replies.find(({ status }) => status === 429);
    expect(limited?.headers['retry-after']).toMatch(/^\d+$/);
  });

  test('a process that was given no key neither shows nor signs anything', async () => {
    const bare = await fetch(`${service.baseUrl}/docs/api`);
    expect(await bare.text()).toContain('"apiKey":null');
    const origin = service.baseUrl;
    const reply = await fetch(`${service.baseUrl}/docs/sign`, {
      method: 'POST',
      headers: { origin },
      body: toSign,
    });
    expect(reply.status).toBe(401);
  });
});

describe('the reference page', () => {
  test('it shows the API key to this machine only, and the secret to nobody', async () => {
    expect((await call('/docs/api')).text).toContain(merchant.apiKey);
    expect((await call('/docs/api', { host: 'evil.example' })).text).not.toContain(merchant.apiKey);
    expect((await call('/docs/api', { 'x-forwarded-for': '203.0.113.9' })).text).not.toContain(
      merchant.apiKey,
    );
    for (const path of ['/docs/api', '/docs/setup.js', '/llms.txt', '/openapi.json', '/docs/errors']) {
      expect((await call(path)).text).not.toContain(merchant.secretKey);
    }
  });

  test('its policy allows no other origin and no script of the page itself', async () => {
    const policy = String((await call('/docs/api')).headers['content-security-policy']);
    expect(policy).toMatch(
      /default-src 'none'.*script-src 'self'.*connect-src 'self'.*frame-ancestors 'none'/,
    );
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
  });

  test('its script comes compressed, whole and cached', async () => {
    const plain = await call('/docs/reference.js');
    expect(plain.status).toBe(200);
    expect(plain.text).toContain('createApiReference');
    const packed = await fetch(`${url}/docs/reference.js`);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.text()).toBe(plain.text);
    const again = await call('/docs/reference.js', { 'if-none-match': String(plain.headers.etag) });
    expect(again.status).toBe(304);
  });
});

describe('the pages about errors', () => {
  test('each code has one, and the list names them all', async () => {
    const list = (await call('/docs/errors')).text;
    for (const code of [...Object.keys(PAYOUT_ERRORS), ...Object.keys(STRUCTURED_ERRORS), 'forbidden']) {
      const page = await call(`/docs/errors/${code}`);
      expect(page.status, code).toBe(200);
      expect(page.text).toContain(`<code>${code}</code>`);
      expect(list).toContain(`href="/docs/errors/${code}"`);
    }
  });

  test('the OpenAPI document links to them', async () => {
    const text = (await call('/openapi.json')).text;
    const links = new Set([...text.matchAll(/\((http[^)]*\/docs\/errors\/\w+)\)/g)].map(([, link]) => link));
    expect(links.size).toBeGreaterThan(10);
    for (const link of links) expect((await fetch(String(link))).status).toBe(200);
  });
});

describe('the documentation site', () => {
  const get = (path: string, headers: Record<string, string> = {}) => call(path, headers);

  test('its policy allows no other origin, no script and no style of the page itself', async () => {
    const policy = String((await get('/docs')).headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'.*style-src 'self'.*script-src 'self'.*connect-src 'self'/);
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    const { text } = await get('/docs/payouts');
    expect(text).not.toMatch(/<script(?! (src|type="module" src)=)|<style| style=|\son\w+=/);
  });

  test('a page comes compressed, and is not sent twice', async () => {
    const plain = await get('/docs/payouts');
    expect(plain.text).toContain('<h1 id="payout-batches">Payout batches</h1>');
    const packed = await fetch(`${url}/docs/payouts`);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.text()).toBe(plain.text);
    // Asked about each time, so that nobody reads the page of another version.
    expect(plain.headers).toMatchObject({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
    expect(plain.headers['x-request-id']).toMatch(/^req_/);
    const again = await get('/docs/payouts', { 'if-none-match': String(plain.headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('style and scripts are kept for good, under names of their content', async () => {
    const assets = [...(await get('/docs')).text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)];
    expect(assets).toHaveLength(3);
    for (const [, asset = ''] of assets) {
      const file = await get(asset);
      expect([file.status, file.headers['cache-control']]).toEqual([200, expect.stringMatching('immutable')]);
    }
  });

  test('nothing but its own files is served', async () => {
    expect((await get('/docs/')).status).toBe(200);
    const paths = ['/docs/nothing', '/docs/site.json', '/docs/%2e%2e%2fsite.json'];
    for (const path of [...paths, '/docs/docs~payouts', '/docs/constructor', '/docs/errors/nothing']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });
});

test('/llms.txt names every call and leads to every page of the menu', async () => {
  const { status, text } = await call('/llms.txt');
  expect(status).toBe(200);
  const pages = [...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, link = '']) => link);
  expect(pages.length).toBeGreaterThan(20);
  for (const page of pages) expect((await fetch(page)).status, page).toBe(200);
  const { paths } = JSON.parse((await call('/openapi.json')).text) as { paths: Record<string, object> };
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods)) expect(text).toContain(`${method.toUpperCase()} ${path}`);
  }
});
