import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { macOf, secretOfSignature } from '../../packages/server/src/stores/keys/credentials.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, type SignedOptions, send, signedHeaders } from '../signed-request.ts';
import { expectError, withoutIds } from './expect-error.ts';
import { imageOfDatabase } from './rows.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  // A measurement in the middle of a test may set the clock back across a second, and 300 s would be 301.
  service.app.clock.stop();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const call = (options: SignedOptions = {}, path = BALANCES) =>
  send(`${service.baseUrl}${path}`, merchant, options);

/** Asks with a timestamp so far off, and again where the service's second changed on the way. */
async function askOff(skew: number): Promise<Answer> {
  for (;;) {
    const now = service.app.clock.nowSeconds();
    const answer = await call({ timestamp: String(now + skew) });
    if (service.app.clock.nowSeconds() === now) return answer;
  }
}

function expectRefused(answer: Answer, path = BALANCES): void {
  const code = path === BALANCES ? 'invalid_api_key' : 'authentication_required';
  expectError(answer, path, { status: 401, code });
}

for (const skew of [0, 1, -1, 299, -299, 300, -300]) {
  test(`A1: a timestamp ${skew} s off is accepted`, async () => {
    expect((await askOff(skew)).status).toBe(200);
  });
}

for (const skew of [301, -301, 302, -302, 3_600, -3_600, 86_400, -1_000_000_000]) {
  test(`A1: a timestamp ${skew} s off is refused`, async () => {
    expectRefused(await askOff(skew));
  });
}

test('A1: only 1 to 12 plain digits are a timestamp', async () => {
  const now = String(service.app.clock.nowSeconds());
  expect((await call({ timestamp: `00${now}` })).status).toBe(200);
  const forms = [
    `000${now}`,
    `${now}000`,
    `+${now}`,
    `-${now}`,
    `${now}.0`,
    `${now}.`,
    `${now}e0`,
    `0x${Number(now).toString(16)}`,
    `${now.slice(0, 5)} ${now.slice(5)}`,
    `${now},${now}`,
    `${now};`,
    `"${now}"`,
    `${now.slice(0, 1)}_${now.slice(1)}`,
    `1,${now.slice(1)}`,
    'now',
    'NaN',
    'Infinity',
    '0',
    '999999999999',
    '-1',
    '1.7e9',
    new Date().toISOString(),
    new Date().toUTCString(),
    '',
  ];
  const answers = await Promise.all(forms.map((timestamp) => call({ timestamp })));
  for (const answer of answers) expectRefused(answer);
});

const NONCES: [form: string, nonce: string, status: number][] = [
  ['16 characters', 'abcdefghijklmnop', 200],
  ['64 characters', 'x'.repeat(64), 200],
  ['visible ASCII of every kind', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 200],
  ['15 characters', 'abcdefghijklmno', 401],
  ['65 characters', 'x'.repeat(65), 401],
  ['a space inside', 'abcdefgh ijklmnop', 401],
  ['a tab inside', 'abcdefgh\tijklmnop', 401],
  ['letters beyond ASCII', 'abcdefghijklmnopä', 401],
  ['nothing', '', 401],
];
for (const [form, nonce, status] of NONCES) {
  test(`A2: a nonce of ${form} gets ${status}`, async () => {
    expect((await call({ nonce })).status).toBe(status);
  });
}

/** Headers of a right request, changed. */
type Change = (right: Record<string, string>, body: string) => Record<string, string | undefined>;

const mac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const signature =
  (text: string): Change =>
  () => ({ 'x-service-signature': text });
const changed =
  (change: (signature: string) => string): Change =>
  (right) => ({ 'x-service-signature': change(right['x-service-signature'] ?? '') });
const key =
  (change: (apiKey: string) => string): Change =>
  () => ({ authorization: change(merchant.apiKey) });
const payload = (right: Record<string, string>, body: string) =>
  `${right['x-service-timestamp']}.${right['x-service-nonce']}.${body}`;

const flipped = (at: number): Change =>
  changed((hex) => `${hex.slice(0, at)}${hex[at] === '0' ? '1' : '0'}${hex.slice(at + 1)}`);

const REJECTED: [what: string, change: Change][] = [
  ['upper-case hex', changed((hex) => hex.toUpperCase())],
  ['half of it in upper case', changed((hex) => hex.slice(0, 32) + hex.slice(32).toUpperCase())],
  ['63 digits', changed((hex) => hex.slice(1))],
  ['65 digits', changed((hex) => `${hex}0`)],
  ['the digits twice', changed((hex) => hex + hex)],
  ['a prefix 0x', changed((hex) => `0x${hex}`)],
  ['a prefix sha256=', changed((hex) => `sha256=${hex}`)],
  ['a version before it', changed((hex) => `v1,${hex}`)],
  ['base64', changed((hex) => Buffer.from(hex, 'hex').toString('base64'))],
  ['base64url', changed((hex) => Buffer.from(hex, 'hex').toString('base64url'))],
  ['a letter that is no hex digit', changed((hex) => `g${hex.slice(1)}`)],
  ['a space in it', changed((hex) => `${hex.slice(0, 10)} ${hex.slice(11)}`)],
  ['two signatures in one header', changed((hex) => `${hex}, ${hex}`)],
  ['bytes in reverse', changed((hex) => Buffer.from(hex, 'hex').reverse().toString('hex'))],
  ['zeros', signature('0'.repeat(64))],
  ['all f', signature('f'.repeat(64))],
  ['nothing', signature('')],
  ['no header', () => ({ 'x-service-signature': undefined })],
  ['an empty secret', (right, body) => ({ 'x-service-signature': mac('', payload(right, body)) })],
  [
    'the API key as secret',
    (right, body) => ({ 'x-service-signature': mac(merchant.apiKey, payload(right, body)) }),
  ],
  [
    "another merchant's secret",
    (right, body) => ({ 'x-service-signature': mac(`fls_test_${'a'.repeat(40)}`, payload(right, body)) }),
  ],
  [
    'a MAC without the dots',
    (right, body) => ({
      'x-service-signature': mac(merchant.secretKey, payload(right, body).replaceAll('.', '')),
    }),
  ],
  ['a MAC of the body alone', (_, body) => ({ 'x-service-signature': mac(merchant.secretKey, body) })],
  [
    'another timestamp',
    (right) => ({ 'x-service-timestamp': String(Number(right['x-service-timestamp']) - 1) }),
  ],
  ['another nonce', () => ({ 'x-service-nonce': randomBytes(16).toString('hex') })],
  ['no timestamp', () => ({ 'x-service-timestamp': undefined })],
  ['no nonce', () => ({ 'x-service-nonce': undefined })],
  ['no Authorization', () => ({ authorization: undefined })],
  ['Basic', key((apiKey) => `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`)],
  ['the key without a scheme', key((apiKey) => apiKey)],
  ['Bearer alone', key(() => 'Bearer')],
  ['two keys', key((apiKey) => `Bearer ${apiKey} ${apiKey}`)],
  ['a comma after the key', key((apiKey) => `Bearer ${apiKey},`)],
  ['a key in quotes', key((apiKey) => `Bearer "${apiKey}"`)],
  ['a longer key', key((apiKey) => `Bearer ${apiKey}1`)],
  ['a shorter key', key((apiKey) => `Bearer ${apiKey.slice(0, -1)}`)],
  ['a key in lower case', key((apiKey) => `Bearer ${apiKey.toLowerCase()}`)],
  ['a key of the other mode', key((apiKey) => `Bearer ${apiKey.replace('test', 'live')}`)],
  ['the secret key as key', key(() => `Bearer ${merchant.secretKey}`)],
  ['the id of the key', key(() => `Bearer ${merchant.keyId}`)],
  ['a key of nobody', key(() => `Bearer fl_test_${'2'.repeat(43)}`)],
  [
    'a last character changed',
    key((apiKey) => `Bearer ${apiKey.slice(0, -1)}${apiKey.endsWith('2') ? '3' : '2'}`),
  ],
  ['SQL as key', key(() => "Bearer fl_test_' or '1'='1")],
  ...Array.from({ length: 64 }, (_, at): [string, Change] => [`digit ${at} changed`, flipped(at)]),
];

async function sendChanged(change: Change, path: string): Promise<Answer> {
  const body = path === BATCHES ? '{"currency":"USDT"}' : '';
  const right = signedHeaders(merchant, path === BATCHES ? { body } : {});
  const headers = Object.entries({ ...right, ...change(right, body) }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: path === BATCHES ? 'POST' : 'GET',
    headers,
    ...(path === BATCHES ? { body } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

for (const path of [BALANCES, BATCHES]) {
  test(`A5: whatever is wrong on ${path}, the answer is the same, and nothing is written (A6)`, async () => {
    const before = await imageOfDatabase(service);
    const answers = await Promise.all(REJECTED.map(([, change]) => sendChanged(change, path)));
    const texts = REJECTED.map(([what], at) => [what, withoutIds(answers[at] as Answer)]);
    const [first] = answers;
    expect(texts).toEqual(REJECTED.map(([what]) => [what, withoutIds(first as Answer)]));
    for (const answer of answers) expectRefused(answer, path);
    expect(await imageOfDatabase(service)).toEqual(before);
  });
}

test('A5: the scheme of Authorization is read in any case', async () => {
  expect((await call({ headers: { authorization: `bearer ${merchant.apiKey}` } })).status).toBe(200);
});

test('A5, fault 24: a right signature over other bytes than those sent is refused', async () => {
  const body = '{"currency":"USDT","network":"erc20","amount":1}';
  for (const signedBody of ['', `${body}\n`, ` ${body}`, body.replace('1}', '1 }')]) {
    expectRefused(await call({ body, signedBody }, '/api/v1/test_helpers/fund'));
  }
  expect((await call({ body }, '/api/v1/test_helpers/fund')).status).toBe(200);
});

test('D1: the raw bytes are signed: re-serialised JSON is refused, any spelling of the same is accepted', async () => {
  const path = '/api/v1/test_helpers/fund';
  const spellings = [
    '{"currency":"USDT","network":"erc20","amount":1}',
    '{ "currency" : "USDT", "network" : "erc20", "amount" : 1 }\r\n',
    '{"amount":1,"network":"erc20","currency":"USDT"}',
    '{"\\u0061mount":1,"network":"\\u0065rc20","currency":"USDT"}',
  ];
  for (const body of spellings) {
    expect((await call({ body }, path)).status).toBe(200);
    const again = JSON.stringify(JSON.parse(body));
    if (again !== body) expectRefused(await call({ body: again, signedBody: body }, path));
  }
});

test('D1: a signature over text read as latin1 is not one over the UTF-8 bytes', async () => {
  const body = '{"currency":"USDT","description":"Zürich 水"}';
  const signedBody = Buffer.from(body, 'latin1');
  expectRefused(await call({ body, signedBody }, BATCHES), BATCHES);
});

test('A6: bad requests in any number leave every table as it was', async () => {
  const before = await imageOfDatabase(service);
  const count = scaled(1_000_000, 1_000);
  for (let sent = 0; sent < count; sent += 100) {
    const wave = Array.from({ length: Math.min(100, count - sent) }, () =>
      call({ headers: { 'x-service-signature': randomBytes(32).toString('hex') } }),
    );
    for (const answer of await Promise.all(wave)) expect(answer.status).toBe(401);
  }
  expect(await imageOfDatabase(service)).toEqual(before);
}, 3_600_000);

test('A9: guesses are all answered alike and never hold a rightly signed request', async () => {
  const count = scaled(10_000);
  let overtaken = 0;
  for (let sent = 0; sent < count; sent += 50) {
    let waiting = 50;
    const guesses = Array.from({ length: 50 }, async () => {
      const apiKey = `fl_test_${randomBytes(24).toString('hex').replaceAll('0', 'A').slice(0, 43)}`;
      const answer = await send(`${service.baseUrl}${BALANCES}`, { ...merchant, apiKey });
      waiting--;
      return answer;
    });
    expect((await call()).status).toBe(200);
    if (waiting > 0) overtaken++;
    for (const answer of await Promise.all(guesses)) expectRefused(answer);
  }
  expect(overtaken).toBeGreaterThan(0);
}, 600_000);

test('A5: how much of a signature is right does not show in the time of the comparison', () => {
  const secret = createSecretKey(Buffer.from(merchant.secretKey));
  const secrets = [{ secret }];
  const parts = { timestamp: '1750000000', nonce: 'abcdefghijklmnop', body: Buffer.from('{"a":1}') };
  const right = macOf(secret, parts).toString('hex');
  const wrongAt = (at: number) =>
    `${right.slice(0, at)}${right[at] === '0' ? '1' : '0'}${right.slice(at + 1)}`;
  const classes = [right, wrongAt(0), wrongAt(31), wrongAt(63), 'f'.repeat(64)];
  const times = classes.map((): number[] => []);
  const rounds = scaled(100_000, 10_000);
  for (let round = 0; round < rounds; round++) {
    for (const [index, given] of classes.entries()) {
      const begun = process.hrtime.bigint();
      secretOfSignature(given, secrets, parts);
      times[index]?.push(Number(process.hrtime.bigint() - begun));
    }
  }
  const medians = times.map((list) => list.sort((a, b) => a - b)[list.length / 2] ?? 0);
  expect(Math.max(...medians) - Math.min(...medians)).toBeLessThan(2_000);
}, 600_000);
