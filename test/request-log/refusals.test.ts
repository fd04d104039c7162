import { createHash, createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rotateKey } from '../../packages/server/src/stores/keys/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, send } from '../signed-request.ts';
import { loggedOf } from './logged.ts';

const BATCHES = '/api/v1/payout-batches';
const VALUE = { currency: 'USDT', memo: 'Löhne / 東京', items: [{ network: 'erc20', amount: '1.00' }] };
const BODY = JSON.stringify(VALUE);

let service: TestService;
let merchant: TestMerchant;
let other: TestMerchant;
let owner: TestMerchant;

beforeAll(async () => {
  service = await startService();
  owner = await service.createMerchant({ funds: 0n });
  other = await service.addStore(owner);
});
// With a key of its own, as few refusals of one key are explained at once.
beforeEach(async () => {
  merchant = await service.addStore(owner);
});
afterAll(() => service.stop());

/** What a client with a mistake makes of a request, from the right parts. */
interface Parts {
  timestamp: string;
  nonce: string;
  secret: string;
}
interface Mistake {
  body?: string | Buffer | undefined;
  /** The bytes that are signed, in place of `<timestamp>.<nonce>.<body>`. */
  sign?: (parts: Parts, body: Buffer) => string | Buffer;
  secret?: () => string | Buffer;
  signature?: (mac: Buffer) => string;
  timestamp?: () => string;
  headers?: Record<string, string | undefined>;
  path?: string;
  algorithm?: string;
}

async function sendWith(mistake: Mistake): Promise<Answer> {
  const nonce = randomUUID();
  const timestamp = mistake.timestamp?.() ?? String(Math.floor(Date.now() / 1000));
  const parts = { timestamp, nonce, secret: merchant.secretKey };
  const body = 'body' in mistake ? mistake.body : BODY;
  const bytes = Buffer.from(body ?? '');
  const signed =
    mistake.sign?.(parts, bytes) ?? Buffer.concat([Buffer.from(`${timestamp}.${nonce}.`), bytes]);
  const mac = createHmac(mistake.algorithm ?? 'sha256', mistake.secret?.() ?? merchant.secretKey)
    .update(signed)
    .digest();
  const headers = {
    authorization: `Bearer ${merchant.apiKey}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
    'x-service-timestamp': timestamp,
    'x-service-nonce': nonce,
    'x-service-signature': mistake.signature?.(mac) ?? mac.toString('hex'),
    ...mistake.headers,
  };
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const response = await fetch(`${service.baseUrl}${mistake.path ?? BATCHES}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: given,
    ...(body === undefined ? {} : { body: new Uint8Array(bytes) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

const signing = (write: (parts: Parts, body: string) => string) => (parts: Parts, body: Buffer) =>
  write(parts, body.toString());
const standard = (write: (body: string) => string) =>
  signing(({ timestamp, nonce }, body) => `${timestamp}.${nonce}.${write(body)}`);
const seconds = (ahead: number) => () => String(Math.floor(Date.now() / 1000) + ahead);

/** As `json.dumps` of Python writes VALUE. */
const PYTHON = BODY.replaceAll('":', '": ')
  .replaceAll(',"', ', "')
  .replaceAll(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

type Case = [what: string, mistake: Mistake, refusal: string, steps: string[], reason: RegExp];
const CASES: Case[] = [
  [
    'sent with other white space',
    { sign: standard(() => JSON.stringify(VALUE, null, 2)) },
    'signature',
    ['signed bytes'],
    /indented by two spaces/,
  ],
  [
    'signed as Python writes it',
    { sign: standard(() => PYTHON) },
    'signature',
    ['signed bytes'],
    /as Python writes it/,
  ],
  [
    'signed without white space',
    { body: JSON.stringify(VALUE, null, 2), sign: standard(() => BODY) },
    'signature',
    ['signed bytes'],
    /without white space/,
  ],
  [
    'signed as PHP writes it',
    { sign: standard((body) => body.replaceAll('/', '\\/')) },
    'signature',
    ['signed bytes'],
    /escaped slashes/,
  ],
  [
    'a line break sent',
    { body: `${BODY}\n`, sign: standard(() => BODY) },
    'signature',
    ['signed bytes'],
    /without white space|line break at the end was sent/,
  ],
  [
    'a line break signed',
    { sign: standard((body) => `${body}\n`) },
    'signature',
    ['signed bytes'],
    /line break at the end was signed/,
  ],
  [
    'signed as Latin-1',
    {
      body: '{"a":"Löhne"}',
      sign: ({ timestamp, nonce }, body) =>
        Buffer.concat([Buffer.from(`${timestamp}.${nonce}.`), Buffer.from(body.toString(), 'latin1')]),
    },
    'signature',
    ['signed bytes'],
    /signed as Latin-1/,
  ],
  [
    'sent as Latin-1',
    { body: Buffer.from('{"a":"Löhne"}', 'latin1'), sign: standard(() => '{"a":"Löhne"}') },
    'signature',
    ['signed bytes'],
    /sent as Latin-1/,
  ],
  [
    'an object signed',
    { sign: standard(() => '[object Object]') },
    'signature',
    ['signed bytes'],
    /object Object/,
  ],
  ['the body left out', { sign: standard(() => '') }, 'signature', ['signed bytes'], /left out/],
  [
    'the hash of the body',
    { sign: standard((body) => createHash('sha256').update(body).digest('hex')) },
    'signature',
    ['signed bytes'],
    /SHA-256 of the body/,
  ],
  [
    'an empty body signed as {}',
    { body: undefined, sign: standard(() => '{}') },
    'signature',
    ['signed bytes'],
    /\{\} was signed/,
  ],
  [
    'no nonce signed',
    { sign: signing(({ timestamp }, body) => `${timestamp}.${body}`) },
    'signature',
    ['signed bytes'],
    /leaves the nonce out/,
  ],
  [
    'no dots',
    { sign: signing(({ timestamp, nonce }, body) => `${timestamp}${nonce}${body}`) },
    'signature',
    ['signed bytes'],
    /dots out/,
  ],
  [
    'no second dot',
    { body: undefined, sign: signing(({ timestamp, nonce }) => `${timestamp}.${nonce}`) },
    'signature',
    ['signed bytes'],
    /second dot/,
  ],
  [
    'the path signed',
    { body: undefined, sign: signing(({ timestamp, nonce }) => `${timestamp}.${nonce}.GET.${BATCHES}.`) },
    'signature',
    ['signed bytes'],
    /Method and path/,
  ],
  [
    'the query signed',
    {
      body: undefined,
      path: `${BATCHES}?limit=1`,
      sign: signing(({ timestamp, nonce }) => `${timestamp}.${nonce}.limit=1`),
    },
    'signature',
    ['signed bytes'],
    /query was signed/,
  ],
  [
    'milliseconds signed',
    { sign: signing(({ timestamp, nonce }, body) => `${timestamp}000.${nonce}.${body}`) },
    'signature',
    ['signed bytes'],
    /Milliseconds were signed/,
  ],
  [
    'the API key as secret',
    { secret: () => merchant.apiKey },
    'signature',
    ['secret key'],
    /signed with the API key/,
  ],
  [
    'the secret with a line break',
    { secret: () => `${merchant.secretKey}\n` },
    'signature',
    ['secret key'],
    /white space or quotes/,
  ],
  [
    'the secret without its beginning',
    { secret: () => merchant.secretKey.replace('fls_test_', '') },
    'signature',
    ['secret key'],
    /without its beginning/,
  ],
  [
    'the secret decoded',
    { secret: () => Buffer.from(merchant.secretKey.replace('fls_test_', ''), 'base64') },
    'signature',
    ['secret key'],
    /decoded as base64/,
  ],
  [
    'two mistakes',
    { secret: () => merchant.apiKey, sign: standard((body) => `${body}\n`) },
    'signature',
    ['signed bytes', 'secret key'],
    /line break/,
  ],
  [
    'nothing known',
    { signature: () => '0'.repeat(64) },
    'signature',
    ['signature'],
    /fits nothing that was tried/,
  ],
  ['an empty secret', { secret: () => '' }, 'signature', ['secret key'], /empty secret/],
  [
    'SHA-512',
    { body: undefined, algorithm: 'sha512' },
    'headers',
    ['signature'],
    /The signature is HMAC-SHA512/,
  ],
  ['SHA-1', { body: undefined, algorithm: 'sha1' }, 'headers', ['signature'], /The signature is HMAC-SHA1/],
  [
    'upper case',
    { body: undefined, signature: (mac) => mac.toString('hex').toUpperCase() },
    'headers',
    ['signature'],
    /upper-case/,
  ],
  [
    'base64',
    { body: undefined, signature: (mac) => mac.toString('base64') },
    'headers',
    ['signature'],
    /base64/,
  ],
  [
    'a prefix',
    { body: undefined, signature: (mac) => `sha256=${mac.toString('hex')}` },
    'headers',
    ['signature'],
    /71 characters/,
  ],
  [
    'a timestamp in milliseconds',
    { timestamp: () => String(Date.now()) },
    'headers',
    ['timestamp'],
    /milliseconds/,
  ],
  [
    'a timestamp as a date',
    { timestamp: () => new Date().toISOString() },
    'headers',
    ['timestamp'],
    /is a date/,
  ],
  ['an old timestamp', { timestamp: seconds(-400) }, 'timestamp', ['timestamp'], /s old, 300 s are allowed/],
  ['a timestamp ahead', { timestamp: seconds(400) }, 'timestamp', ['timestamp'], /s ahead/],
  [
    'no nonce',
    { headers: { 'x-service-nonce': undefined } },
    'headers',
    ['headers'],
    /X-Service-Nonce is missing/,
  ],
  ['a short nonce', { headers: { 'x-service-nonce': 'short' } }, 'headers', ['nonce'], /5 characters/],
];

for (const [what, mistake, refusal, steps, reason] of CASES) {
  test(`${what}: refused as every other, and explained in the log`, { timeout: 60_000 }, async () => {
    const answer = await sendWith(mistake);
    expect([answer.status, answer.text.includes('signature')]).toEqual([401, true]);
    const logged = await loggedOf(service, answer);
    expect(logged).toMatchObject({
      status: 401,
      refusal,
      verified: false,
      key: encodeId('key', merchant.keyId),
    });
    const { explanation } = logged;
    expect(explanation?.summary).toMatch(reason);
    const failed = explanation?.steps.filter(({ ok }) => ok === false) ?? [];
    expect(failed.map(({ name }) => name)).toEqual(steps);
    for (const { advice } of failed) expect(advice).not.toBeNull();
    expect(JSON.stringify(logged)).not.toContain(merchant.secretKey);
  });
}

test('the key without "Bearer" is known all the same', async () => {
  const answer = await sendWith({ body: undefined, headers: { authorization: merchant.apiKey } });
  const { refusal, explanation, request_headers: headers } = await loggedOf(service, answer);
  expect(refusal).toBe('headers');
  expect(explanation?.summary).toMatch(/not "Bearer"/);
  expect(headers).not.toContain(merchant.apiKey);
});

test('what the server signed is shown, with its digest, and never a signature that it would accept', async () => {
  const answer = await sendWith({ sign: standard(() => JSON.stringify(VALUE, null, 2)) });
  const logged = await loggedOf(service, answer);
  const payload = logged.explanation?.signed_payload ?? '';
  const [timestamp, nonce] = payload.split('.');
  expect(payload).toBe(`${timestamp}.${nonce}.${BODY}`);
  expect(logged.explanation?.payload).toEqual({
    bytes: Buffer.byteLength(payload),
    sha256: createHash('sha256').update(payload).digest('hex'),
  });
  const shown = JSON.stringify(logged);
  for (const text of [BODY, JSON.stringify(VALUE, null, 2)]) {
    const valid = createHmac('sha256', merchant.secretKey)
      .update(`${timestamp}.${nonce}.${text}`)
      .digest('hex');
    expect(shown).not.toContain(valid);
  }
});

test('a nonce that was used before, a rotated secret, the secret of another key, a revoked key', async () => {
  const { sdk: _, ...own } = merchant;
  const nonce = randomUUID();
  await send(`${service.baseUrl}/api/v1/balances`, own, { nonce });
  const replayed = await send(`${service.baseUrl}/api/v1/balances`, own, { nonce });
  expect(await loggedOf(service, replayed)).toMatchObject({
    refusal: 'nonce',
    explanation: { summary: expect.stringMatching(/used before/) },
  });

  const swapped = await send(`${service.baseUrl}/api/v1/balances`, { ...own, secretKey: other.secretKey });
  // Keys of another store are none of its business.
  expect((await loggedOf(service, swapped)).explanation?.summary).toMatch(/fits nothing/);

  const key = { merchantId: merchant.merchantId, keyId: merchant.keyId };
  const newSecret = await rotateKey(service.app, key, 1);
  await expect
    .poll(async () => (await send(`${service.baseUrl}/api/v1/balances`, own)).status, { timeout: 30_000 })
    .toBe(401);
  const old = await send(`${service.baseUrl}/api/v1/balances`, own);
  expect((await loggedOf(service, old)).explanation?.summary).toMatch(/before the last rotation/);
  merchant.secretKey = newSecret;

  await service.app.db
    .updateTable('api_key')
    .set({ revoked_at_ms: 1 })
    .where('key_id', '=', other.keyId)
    .execute();
  const ended = await send(`${service.baseUrl}/api/v1/balances`, other);
  expect(await loggedOf(service, ended)).toMatchObject({
    refusal: 'ended',
    explanation: { summary: 'The API key is revoked.' },
  });
});
