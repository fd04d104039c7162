import { createHmac } from 'node:crypto';
import { webhooks } from '@florin/sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diagnose, type Evidence, type Finding } from './diagnose.ts';
import { readHeaders, readWhole } from './read-request.ts';

const SECRET = 'fls_test_debug';
const NOW = 1_776_643_200;
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'invoice.paid',
  data: { object: { text: 'Löhne 東京/\u2028' } },
});

interface Change {
  headers?: Record<string, string | undefined>;
  body?: string | Buffer;
  secret?: string;
  others?: Evidence['others'];
  receivedAt?: number;
}

/** What is found in a delivery of BODY that was changed on its way. */
function found(change: Change = {}): Finding[] {
  const stamp = { timestamp: String(NOW), nonce: 'f1c0a9d2-5b7e-4c3a' };
  const sent = { ...webhooks.generateTestHeaders(BODY, SECRET, stamp), ...change.headers };
  const lines = Object.entries(sent).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}`,
  );
  return diagnose({
    request: { headers: readHeaders(lines.join('\n')), body: Buffer.from(change.body ?? BODY) },
    secrets: [change.secret ?? SECRET],
    others: change.others ?? [],
    receivedAt: change.receivedAt ?? NOW + 3,
  });
}
const failed = (findings: readonly Finding[]) =>
  findings.filter(({ ok }) => ok === false).map(({ step }) => step);
const reasonOf = (findings: readonly Finding[], step: number) => findings[step - 1]?.reason ?? '';

test('a right delivery passes all six steps', () => {
  expect(found().map(({ step, ok, advice }) => [step, ok, advice])).toEqual(
    [1, 2, 3, 4, 5, 6].map((step) => [step, true, null]),
  );
});

const signed = (message: string) => createHmac('sha256', SECRET).update(message).digest('hex');
const CASES: [what: string, change: Change, steps: number[], reason: RegExp][] = [
  ['no nonce', { headers: { 'X-Service-Nonce': undefined } }, [1], /X-Service-Nonce is missing/],
  ['a stale stamp', { receivedAt: NOW + 7_300 }, [2], /2 h old/],
  ['a stamp from the future', { receivedAt: NOW - 301 }, [2], /5 min ahead/],
  ['milliseconds', { headers: { 'X-Service-Timestamp': `${NOW}000` } }, [2, 6], /milliseconds/],
  ['a short nonce', { headers: { 'X-Service-Nonce': 'short' } }, [3, 6], /5 characters/],
  ['a nonce with a space', { headers: { 'X-Service-Nonce': 'a space in the midst' } }, [3, 6], /white space/],
  ['a parsed body', { body: JSON.stringify(JSON.parse(BODY), null, 2) }, [4, 6], /parsed and written again/],
  [
    'a body of Python',
    { body: BODY.replaceAll('":', '": ').replace('ö', '\\u00f6') },
    [4, 6],
    /parsed and written/,
  ],
  ['a body of PHP', { body: BODY.replaceAll('/', '\\/') }, [4, 6], /parsed and written again/],
  ['a line break at the end', { body: `${BODY}\n` }, [4, 6], /ends with a line break/],
  ['white space around it', { body: ` ${BODY}\t` }, [4, 6], /white space around/],
  ['a byte order mark', { body: `\ufeff${BODY}` }, [4, 6], /byte order mark/],
  ['a body in a string', { body: JSON.stringify(BODY) }, [4, 6], /JSON string/],
  ['an API key', { secret: 'fl_test_abc' }, [5, 6], /API key/],
  ['a secret with a line break', { secret: `${SECRET}\n` }, [5, 6], /white space or quotes/],
  ['a secret in quotes', { secret: `"${SECRET}"` }, [5, 6], /white space or quotes/],
  [
    'the secret of another key',
    { secret: 'fls_test_other', others: [{ value: SECRET, name: 'the key at hand' }] },
    [5, 6],
    /signed with the key at hand/,
  ],
  [
    'upper-case hex',
    { headers: { 'X-Service-Signature': signed(`${NOW}.f1c0a9d2-5b7e-4c3a.${BODY}`).toUpperCase() } },
    [6],
    /upper-case/,
  ],
  [
    'base64',
    {
      headers: {
        'X-Service-Signature': Buffer.from(signed(`${NOW}.f1c0a9d2-5b7e-4c3a.${BODY}`), 'hex').toString(
          'base64',
        ),
      },
    },
    [6],
    /base64/,
  ],
  ['a prefix', { headers: { 'X-Service-Signature': `sha256=${'0'.repeat(64)}` } }, [6], /71 characters/],
  ['the body alone signed', { headers: { 'X-Service-Signature': signed(BODY) } }, [4, 6], /body alone/],
  [
    'no nonce signed',
    { headers: { 'X-Service-Signature': signed(`${NOW}.${BODY}`) } },
    [4, 6],
    /leaves the nonce out/,
  ],
  ['another body', { body: BODY.replace('evt_1', 'evt_2') }, [6], /in no way that was tried/],
  ['no body', { body: '' }, [6], /in no way that was tried/],
];

describe('each mistake in its step, explained', () => {
  for (const [what, change, steps, reason] of CASES) {
    test(`${what} is found`, () => {
      const findings = found(change);
      expect(failed(findings)).toEqual(steps);
      expect(reasonOf(findings, steps[0] ?? 0)).toMatch(reason);
      for (const { ok, advice } of findings) expect(advice === null).toBe(ok !== false);
    });
  }
});

test('two mistakes at once are both found', () => {
  const findings = found({ body: `${BODY}\n`, secret: `${SECRET} ` });
  expect(failed(findings)).toEqual([4, 5, 6]);
});

test('a header that came twice is refused', () => {
  const [finding] = diagnose({
    request: {
      headers: readHeaders(
        `X-Service-Nonce: a\nx-service-nonce: b\nX-Service-Timestamp: 1\nX-Service-Signature: 2`,
      ),
      body: Buffer.from(BODY),
    },
    secrets: [SECRET],
    others: [],
    receivedAt: NOW,
  });
  expect(finding).toMatchObject({ ok: false, reason: expect.stringMatching(/more than once/) });
});

test('it says of no delivery that it is valid where the SDK refuses it, nor the other way round', () => {
  const part = fc
    .string({ unit: 'binary', maxLength: 70 })
    .map((text) => text.toWellFormed().replaceAll(/[\r\n]/g, ' '));
  const changes = fc.record(
    {
      body: fc.oneof(fc.constantFrom(BODY, `${BODY} `, '{}'), part),
      nonce: fc.oneof(fc.constant('f1c0a9d2-5b7e-4c3a'), part),
      late: fc.integer({ min: -400, max: 400 }),
      secret: fc.constantFrom(SECRET, 'fls_test_x'),
      tampered: fc.boolean(),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(changes, ({ body, nonce, late, secret, tampered }) => {
      const stamp = { timestamp: String(NOW), nonce };
      const headers = webhooks.generateTestHeaders(tampered ? `${body}x` : body, secret, stamp);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const given = readHeaders(lines.join('\n'));
      const findings = diagnose({
        request: { headers: given, body: Buffer.from(body) },
        secrets: [SECRET],
        others: [],
        receivedAt: NOW + late,
      });
      let refused = '';
      try {
        const plain = Object.fromEntries([...given].map(([name, [value]]) => [name, value]));
        webhooks.verify(Buffer.from(body), plain, SECRET, { now: NOW + late });
      } catch (error) {
        refused = String((error as { reason?: string }).reason);
      }
      // What the body says is no matter of the signature.
      const isValid = refused === '' || refused === 'body_not_json' || refused === 'body_not_event';
      expect(findings.every(({ ok }) => ok === true)).toBe(isValid);
    }),
    { numRuns: 200 },
  );
});

test('headers are read as people write them down', () => {
  const expected = [
    ['x-service-nonce', ['a:b']],
    ['content-type', ['application/json']],
  ];
  for (const text of [
    'X-Service-Nonce: a:b\nContent-Type: application/json\n',
    'POST /hook HTTP/1.1\r\nx-service-nonce:a:b\r\ncontent-type:   application/json  \r\n',
    '> POST /hook HTTP/1.1\n> X-Service-Nonce: a:b\n> Content-Type: application/json',
    '{"X-Service-Nonce": ["a:b"], "content-type": "application/json"}',
  ]) {
    expect([...readHeaders(text)]).toEqual(expected);
  }
  expect(() => readHeaders('nothing of the kind')).toThrow(/no header line/);
  expect(() => readHeaders('{"a":')).toThrow(/no JSON/);
});

test('a whole request keeps every byte of its body', () => {
  const bytes = Buffer.concat([
    Buffer.from('POST / HTTP/1.1\r\nHost: ö\r\nX-A: 1\r\n\r\n'),
    Buffer.from([0xff, 0, 0x0d, 0x0a, 0x0d, 0x0a, 0xc3]),
  ]);
  const { headers, body } = readWhole(bytes);
  expect([headers.get('x-a'), [...body]]).toEqual([['1'], [0xff, 0, 0x0d, 0x0a, 0x0d, 0x0a, 0xc3]]);
  expect(() => readWhole(Buffer.from('X-A: 1\n'))).toThrow(/no empty line/);
});
