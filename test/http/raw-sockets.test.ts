import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send, signedHeaders } from '../signed-request.ts';
import { expectError, expectStandardHeaders } from './expect-error.ts';
import { type Exchange, exchange, requestText, type WireAnswer } from './raw-socket.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';
const FUND = '/api/v1/test_helpers/fund';
const FUNDING = '{"currency":"USDT","network":"erc20","amount":1}';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

type Lines = [name: string, value: string][];
const signed = (body?: string, headers: Record<string, string> = {}): Lines =>
  Object.entries(signedHeaders(merchant, { ...(body === undefined ? {} : { body }), headers }));
const get = (path = BALANCES, more: Lines = []) =>
  requestText(`GET ${path} HTTP/1.1`, [...signed(), ...more]);
const post = (path: string, body: string, more: Lines = []) =>
  requestText(
    `POST ${path} HTTP/1.1`,
    [...signed(body), ...more, ['Content-Length', String(body.length)]],
    body,
  );

/** Lines after a rightly signed start, so that nothing but what is wrong can refuse the request. */
const broken = (...lines: string[]) =>
  `${get().slice(0, -4)}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const posted = (lines: string[], body: string, signedBody = body) => {
  const head = requestText(`POST ${FUND} HTTP/1.1`, signed(signedBody)).slice(0, -2);
  return `${head}${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
};
const length = `Content-Length: ${FUNDING.length}`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunked = `${chunk(FUNDING)}0\r\n\r\n`;

const BROKEN: [what: string, bytes: () => string][] = [
  ['line feeds alone', () => get().replaceAll('\r\n', '\n')],
  ['a line feed alone after the request line', () => get().replace('\r\n', '\n')],
  ['a line feed alone inside a header', () => broken('X-A: a\nX-B: b')],
  ['carriage returns alone', () => `${get().replaceAll('\r\n', '\r')}\r\n\r\n`],
  ['a folded header', () => broken('X-A: a', ' b')],
  ['a header folded by a tab', () => broken('X-A: a', '\tb')],
  ['a folded signature', () => get().replace('x-service-signature: ', 'x-service-signature: \r\n ')],
  ['a header without a colon', () => broken('X-A')],
  ['a space before the colon', () => broken('X-A : a')],
  ['a space before the name', () => broken(' X-A: a')],
  ['an empty name', () => broken(': a')],
  ['a name with a space in it', () => broken('X A: a')],
  ['a name with brackets', () => broken('X-(A): a')],
  ['a NUL in a value', () => broken('X-A: a\0b')],
  ['a control character in a value', () => broken('X-A: a\x01b')],
  ['a NUL in a name', () => broken('X\0A: a')],
  [
    'both Content-Length and Transfer-Encoding',
    () => posted([length, 'Transfer-Encoding: chunked'], chunked, FUNDING),
  ],
  ['both, the other way round', () => posted(['Transfer-Encoding: chunked', length], chunked, FUNDING)],
  ['two lengths that differ', () => posted([length, 'Content-Length: 0'], FUNDING)],
  ['two lengths that agree', () => posted([length, length], FUNDING)],
  ['two lengths in one header', () => posted([`${length}, ${FUNDING.length}`], FUNDING)],
  ['a length with a plus', () => posted([`Content-Length: +${FUNDING.length}`], FUNDING)],
  ['a negative length', () => posted(['Content-Length: -1'], FUNDING)],
  ['a hexadecimal length', () => posted(['Content-Length: 0x10'], FUNDING)],
  ['a length with a fraction', () => posted([`${length}.0`], FUNDING)],
  ['a length with a space in it', () => posted(['Content-Length: 4 8'], FUNDING)],
  ['no number as length', () => posted(['Content-Length: all'], FUNDING)],
  ['an empty length', () => posted(['Content-Length:'], FUNDING)],
  ['a length beyond all numbers', () => posted(['Content-Length: 99999999999999999999'], FUNDING)],
  ['another transfer encoding', () => posted(['Transfer-Encoding: xchunked'], chunked, FUNDING)],
  ['identity as transfer encoding', () => posted(['Transfer-Encoding: identity'], chunked, FUNDING)],
  ['chunked before another', () => posted(['Transfer-Encoding: chunked, identity'], chunked, FUNDING)],
  ['chunked in quotes', () => posted(['Transfer-Encoding: "chunked"'], chunked, FUNDING)],
  ['a chunk size that is no number', () => posted(['Transfer-Encoding: chunked'], 'g\r\nx\r\n0\r\n\r\n')],
  ['a negative chunk size', () => posted(['Transfer-Encoding: chunked'], '-1\r\nx\r\n0\r\n\r\n')],
  ['a chunk size with 0x', () => posted(['Transfer-Encoding: chunked'], '0x1\r\nx\r\n0\r\n\r\n')],
  [
    'a chunk size beyond all numbers',
    () => posted(['Transfer-Encoding: chunked'], `1${'0'.repeat(16)}\r\nx\r\n0\r\n\r\n`),
  ],
  ['a chunk longer than it says', () => posted(['Transfer-Encoding: chunked'], '1\r\nxyz\r\n0\r\n\r\n')],
  [
    'chunks ended by line feeds alone',
    () => posted(['Transfer-Encoding: chunked'], chunked.replaceAll('\r\n', '\n')),
  ],
  ['no HTTP at all', () => 'hello\r\n\r\n'],
  ['a request line without a version', () => get().replace(' HTTP/1.1', '')],
  ['HTTP/2.0', () => get().replace('HTTP/1.1', 'HTTP/2.0')],
  ['HTTP/1.2', () => get().replace('HTTP/1.1', 'HTTP/1.2')],
  ['a version in lower case', () => get().replace('HTTP/1.1', 'http/1.1')],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a method that nobody knows', () => get().replace('GET', 'FETCH')],
  ['a method in lower case', () => get().replace('GET', 'get')],
  ['a space in the path', () => get('/api/v1/bal ances')],
  ['a control character in the path', () => get('/api/v1/\x01balances')],
  ['a NUL in the path', () => get('/api/v1/balances\0')],
  ['a space before the method', () => ` ${get()}`],
  ['a header of 20,000 bytes', () => broken(`X-A: ${'a'.repeat(20_000)}`)],
  ['a path of 20,000 bytes', () => get(`/${'a'.repeat(20_000)}`)],
  [
    'headers of 20,000 bytes together',
    () => broken(...Array.from({ length: 2_000 }, (_, n) => `X-${n}: abc`)),
  ],
  ['a hello of TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
];

for (const [what, bytes] of BROKEN) {
  test(`A8, fault 31: ${what}: 400 before any handler, and the connection is closed`, async () => {
    const { answers, closed, rest } = await exchange(service.baseUrl, bytes());
    expect(answers.length).toBe(1);
    expectError(answers[0] as WireAnswer, BALANCES, { status: 400, code: 'invalid_request_error' });
    expect({ closed, rest }).toEqual({ closed: true, rest: '' });
    expect(answers[0]?.headers.connection).toBe('close');
  });
}

/** Requests that the parser takes, refused by us: the connection stays in step, so it may stay open. */
const REFUSED: [what: string, bytes: () => string, status: number, path: string][] = [
  ['no Host', () => get().replace('Host: florin.test\r\n', ''), 400, BALANCES],
  ['two Hosts', () => get(BALANCES, [['Host', 'other.test']]), 400, BALANCES],
  ['two equal Hosts', () => get(BALANCES, [['Host', 'florin.test']]), 400, BALANCES],
  ['two Hosts on a payout path', () => get(BATCHES, [['Host', 'other.test']]), 400, BATCHES],
  [
    'two Idempotency-Keys',
    () =>
      post(BATCHES, '{}', [
        ['Idempotency-Key', 'a'],
        ['Idempotency-Key', 'b'],
      ]),
    400,
    BATCHES,
  ],
  [
    'two equal Idempotency-Keys',
    () =>
      post(BATCHES, '{}', [
        ['Idempotency-Key', 'a'],
        ['idempotency-key', 'a'],
      ]),
    400,
    BATCHES,
  ],
  [
    'two versions',
    () =>
      get(BALANCES, [
        ['X-Service-Version', '2026-04-20'],
        ['X-Service-Version', '2026-04-20'],
      ]),
    400,
    BALANCES,
  ],
  ['two Content-Types', () => post(FUND, FUNDING, [['Content-Type', 'application/json']]), 415, FUND],
  [
    'two Content-Encodings',
    () =>
      post(FUND, FUNDING, [
        ['Content-Encoding', 'identity'],
        ['Content-Encoding', 'gzip'],
      ]),
    415,
    FUND,
  ],
  ['a body of a GET', () => `${get(BALANCES, [['Content-Length', '2']])}{}`, 400, BALANCES],
  [
    'a chunked body of a GET',
    () => `${get(BALANCES, [['Transfer-Encoding', 'chunked']])}2\r\n{}\r\n0\r\n\r\n`,
    400,
    BALANCES,
  ],
];
for (const name of ['Authorization', 'X-Service-Timestamp', 'X-Service-Nonce', 'X-Service-Signature']) {
  const again = (): Lines => signed().filter(([known]) => known === name.toLowerCase());
  REFUSED.push(
    [`two of ${name}`, () => get(BALANCES, again()), 401, BALANCES],
    [
      `two of ${name} in other letters`,
      () => get(BALANCES, [[name.toUpperCase(), again()[0]?.[1] ?? '']]),
      401,
      BALANCES,
    ],
    [`an empty ${name} beside it`, () => get(BALANCES, [[name, '']]), 401, BALANCES],
    [`two of ${name} on a payout path`, () => get(BATCHES, again()), 401, BATCHES],
  );
}

for (const [what, bytes, status, path] of REFUSED) {
  test(`A8, fault 31: ${what}: ${status} before any handler`, async () => {
    const { answers, rest } = await exchange(service.baseUrl, bytes(), { answers: 1 });
    expectError(answers[0] as WireAnswer, path, { status });
    expect(rest).toBe('');
  });
}

test('A8: the same header twice in one request is refused also where both are right and equal', async () => {
  const lines = signed();
  const twice = requestText(`GET ${BALANCES} HTTP/1.1`, [
    ...lines,
    ...lines.filter(([name]) => name === 'authorization'),
  ]);
  const { answers } = await exchange(service.baseUrl, twice, { answers: 1 });
  expectError(answers[0] as WireAnswer, BALANCES, { status: 401, code: 'invalid_api_key' });
  const once = requestText(`GET ${BALANCES} HTTP/1.1`, lines);
  expect((await exchange(service.baseUrl, once, { answers: 1 })).answers[0]?.status).toBe(200);
});

test('A8: broken requests to payout paths are answered in their format', async () => {
  for (const bytes of [
    get(BATCHES, [['X-A', 'a'.repeat(20_000)]]),
    get(`${BATCHES}/a/b`).replace('Host: ', 'Host : '),
    requestText(
      `POST ${BATCHES} HTTP/1.1`,
      [
        ['Content-Length', '1'],
        ['Transfer-Encoding', 'chunked'],
      ],
      'x',
    ),
  ]) {
    const { answers } = await exchange(service.baseUrl, bytes);
    expectError(answers[0] as WireAnswer, BATCHES, { status: 400, code: 'invalid_request' });
  }
});

const statuses = ({ answers }: Exchange) => answers.map(({ status }) => status);

test('D7: pipelined requests are answered in their order', async () => {
  const paths = [BALANCES, '/api/v1/nothing', BATCHES, BALANCES, `${BATCHES}/x`];
  const seen = await exchange(service.baseUrl, paths.map((path) => get(path)).join(''), { answers: 5 });
  expect(statuses(seen)).toEqual([200, 404, 200, 200, 404]);
  expect(seen.answers[2]?.json.object).toBe('list');
  const ids = new Set(seen.answers.map(({ headers }) => headers['x-request-id']));
  expect(ids.size).toBe(5);
});

test('A8: whole requests before broken bytes get their own answers first', async () => {
  const bytes = `${get()}${post(FUND, FUNDING)}broken\r\n\r\n${get()}`;
  const seen = await exchange(service.baseUrl, bytes);
  expect(statuses(seen)).toEqual([200, 200, 400]);
  expect(seen.closed).toBe(true);
});

test('A8: a broken body refuses its own request, and what was before it is answered', async () => {
  const second = posted(['Transfer-Encoding: chunked'], 'zz\r\n');
  const seen = await exchange(service.baseUrl, `${get()}${second}`);
  expect(statuses(seen)).toEqual([200, 400]);
  expect(seen.closed).toBe(true);
});

test('A8: a request inside of a body is a body', async () => {
  const inner = get();
  const before = await send(`${service.baseUrl}/api/v1/ledger_entries?limit=100`, merchant);
  const seen = await exchange(service.baseUrl, `${post(FUND, inner)}${get('/api/v1/nothing')}`, {
    answers: 2,
  });
  expect(statuses(seen)).toEqual([400, 404]);
  expect(seen.rest).toBe('');
  const after = await send(`${service.baseUrl}/api/v1/ledger_entries?limit=100`, merchant);
  expect(after.json).toEqual(before.json);
});

test('A8: a request inside of the body of a GET is neither taken nor answered', async () => {
  const inner = get();
  const outer = get(BALANCES, [['Content-Length', String(inner.length)]]);
  const seen = await exchange(service.baseUrl, `${outer}${inner}`);
  expect(statuses(seen)).toEqual([400]);
  expect(seen.closed).toBe(true);
});

test('A8: trailers and chunk extensions are read over: no header of a trailer counts', async () => {
  const trailed = `${chunk(FUNDING)}0\r\nAuthorization: Bearer x\r\nX-A: b\r\n\r\n`;
  const extended = `${FUNDING.length.toString(16)};a="b"\r\n${FUNDING}\r\n0\r\n\r\n`;
  for (const body of [trailed, extended]) {
    const bytes = posted(['Transfer-Encoding: chunked'], body, FUNDING);
    expect(statuses(await exchange(service.baseUrl, bytes, { answers: 1 }))).toEqual([200]);
  }
});

test('a connection is reused after every error that leaves it in sync', async () => {
  const bytes = [
    requestText(`GET ${BALANCES} HTTP/1.1`, []),
    get('/api/v1/nothing'),
    post(FUND, '{'),
    requestText(`DELETE ${BALANCES} HTTP/1.1`, signed()),
    post(FUND, FUNDING, [['Content-Encoding', 'gzip']]),
    get(),
  ];
  const seen = await exchange(service.baseUrl, bytes.join(''), { answers: 6 });
  expect(statuses(seen)).toEqual([401, 404, 400, 405, 415, 200]);
  for (const answer of seen.answers) expectStandardHeaders(answer);
  expect(seen.closed).toBe(false);
});

test('HTTP/1.0 needs no Host and ends after the answer', async () => {
  const bytes = get().replace('HTTP/1.1', 'HTTP/1.0').replace('Host: florin.test\r\n', '');
  const seen = await exchange(service.baseUrl, bytes);
  expect(statuses(seen)).toEqual([200]);
  expect(seen.closed).toBe(true);
});

test('Expect: 100-continue gets a 100, unless the body is too large', async () => {
  const waits: Lines = [['Expect', '100-continue']];
  const seen = await exchange(service.baseUrl, post(FUND, FUNDING, waits), { answers: 1 });
  expect(statuses(seen)).toEqual([200]);
  const large = requestText(`POST ${FUND} HTTP/1.1`, [...waits, ['Content-Length', '1073741824']]);
  const refused = await exchange(service.baseUrl, large);
  expect(statuses(refused)).toEqual([413]);
  expect(refused.closed).toBe(true);
});

test('what else is expected or upgraded to is ignored', async () => {
  for (const more of [
    [['Expect', 'a-miracle']],
    [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Key', 'eA=='],
      ['Sec-WebSocket-Version', '13'],
    ],
    [
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
    ],
  ] satisfies Lines[]) {
    const seen = await exchange(service.baseUrl, get(BALANCES, more), { answers: 1 });
    expect(statuses(seen)).toEqual([200]);
  }
});

test('CONNECT and TRACE get nothing, and an absolute address is the path in it', async () => {
  const tunnel = await exchange(
    service.baseUrl,
    'CONNECT florin.test:443 HTTP/1.1\r\nHost: florin.test\r\n\r\n',
  );
  expect({ answers: tunnel.answers, closed: tunnel.closed }).toEqual({ answers: [], closed: true });
  const trace = requestText(`TRACE ${BALANCES} HTTP/1.1`, signed());
  const traced = await exchange(service.baseUrl, trace, { answers: 1 });
  expectError(traced.answers[0] as WireAnswer, BALANCES, { status: 405, code: 'method_not_allowed' });
  const absolute = get(`http://florin.test${BALANCES}`);
  expect(statuses(await exchange(service.baseUrl, absolute, { answers: 1 }))).toEqual([200]);
  const refused = await exchange(service.baseUrl, get(`http://florin.test${BATCHES}?limit=0`), {
    answers: 1,
  });
  expectError(refused.answers[0] as WireAnswer, BATCHES, { status: 400, code: 'invalid_request' });
  const all = await exchange(service.baseUrl, requestText('OPTIONS * HTTP/1.1', []), { answers: 1 });
  expectError(all.answers[0] as WireAnswer, '/', { status: 401, code: 'invalid_api_key' });
});

test('A8: after all of this the service answers as before', async () => {
  const answer = await send(`${service.baseUrl}${BALANCES}`, merchant, { nonce: randomUUID() });
  expect(answer.status).toBe(200);
});
