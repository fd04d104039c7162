import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withCorpus } from '../../../../test/corpora.ts';
import { CUT, redactBody, redactHeaders, redactUrl, SEPARATOR } from './redact-exchange.ts';

const letters = fc.uint8Array({ minLength: 32, maxLength: 48 }).map((bytes) => base58.encode(bytes));

/** A secret in the form in which it is known, with the part that must not be seen. */
const secret = fc.oneof(
  letters.map((text) => ({ text: `fl_test_${text}`, hidden: text })),
  letters.map((text) => ({ text: `fls_live_${text}`, hidden: text })),
  letters.map((text) => ({ text: `fla_${text}`, hidden: text })),
  letters.map((text) => ({ text: `Bearer ${text}`, hidden: text })),
  letters.map((text) => ({ text: `https://pay.example/checkout/${text}`, hidden: text })),
  letters.map((text) => ({ text: `http://127.0.0.1:8420/pay/${text}?a=1`, hidden: text })),
  letters.map((text) => ({ text: `https%3A%2F%2Fpay.example%2Fcheckout%2F${text}`, hidden: text })),
  letters.map((text) => ({ text: `postgres://user:${text}@host/db`, hidden: text })),
  letters.map((text) => ({
    text: `-----BEGIN PRIVATE KEY-----${text}-----END PRIVATE KEY-----`,
    hidden: text,
  })),
);
const named = fc.record({
  name: fc.constantFrom(
    'password',
    'secret',
    'webhook_secret',
    'access_token',
    'api_key',
    'apiKey',
    'PASSWORD',
  ),
  hidden: letters,
});
const filler = fc.string({ unit: 'binary', maxLength: 40 });

test('no secret of a known form is left in a body, wherever it stands', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(filler, secret), { maxLength: 5 }), fc.array(named), (parts, fields) => {
      const value = [
        ...parts.map(([before, { text }]) => ({ memo: `${before} ${text}` })),
        ...fields.map(({ name, hidden }) => ({ [name]: hidden })),
      ];
      const body = JSON.stringify(value);
      const masked = redactBody(body, Buffer.byteLength(body));
      for (const { hidden } of [...parts.map(([, one]) => one), ...fields])
        expect(masked.includes(hidden)).toBe(false);
    }),
  );
});

test('a secret that the cut goes through leaves no part', () => {
  fc.assert(
    fc.property(letters, fc.integer({ min: 0, max: 80 }), (hidden, before) => {
      const text = `{"a":"${'x '.repeat(8_150 - before)}","b":"fls_test_${hidden}${'y'.repeat(200)} ${'z '.repeat(9_000)}"}`;
      const masked = redactBody(text, Buffer.byteLength(text));
      expect([masked.includes(hidden.slice(0, 6)), masked.length <= 16_384]).toEqual([false, true]);
      expect(masked.endsWith(CUT)).toBe(true);
    }),
  );
});

const HOSTILE = withCorpus<string>(
  ['\0', SEPARATOR, '\ud800', '\u001b[2J', '<script>'],
  'strings/blns.json',
  (all) => all as readonly string[],
);

test.each(HOSTILE.map((text) => [text]))(
  '%j is stored as text that PostgreSQL takes, and as one text',
  (text) => {
    for (const stored of [
      redactBody(text, Buffer.byteLength(text)),
      redactUrl(`/a?${text}`).query,
      redactHeaders({ headers: { 'x-a': text }, repeated: new Set() }),
    ]) {
      expect([stored.isWellFormed(), stored.includes('\0'), stored.includes(SEPARATOR)]).toEqual([
        true,
        false,
        false,
      ]);
    }
  },
);

test('headers that prove who somebody is are masked by their name, others by what they hold', () => {
  const key = `fl_test_${base58.encode(randomBytes(32))}`;
  const headers = {
    host: 'a.example',
    authorization: `Bearer ${key}`,
    cookie: 'session=1',
    'x-api-key': 'anything',
    'x-service-signature': 'ab'.repeat(32),
    'x-service-nonce': 'a-nonce-of-some-length',
    'x-note': `see ${key}`,
    'x-auth': 'a',
    'x-session-id': 'b',
    'cf-access-jwt-assertion': 'c',
    'x-service-sign': 'cd'.repeat(32),
    'x-sign': randomBytes(32).fill(1).toString('base64'),
  };
  expect(redactHeaders({ headers, repeated: new Set(['x-service-nonce']) }).split('\n')).toEqual([
    'authorization: Bearer [redacted]',
    'cookie: [redacted]',
    'x-api-key: [redacted]',
    'x-service-signature: abababab...',
    'x-auth: [redacted]',
    'x-session-id: [redacted]',
    'cf-access-jwt-assertion: [redacted]',
    'host: a.example',
    'x-service-nonce: a-nonce-of-some-length (more than once)',
    'x-note: see [redacted]',
    'x-service-sign: cdcdcdcd...',
    'x-sign: AQEBAQEB...',
  ]);
});

test('any text takes time in proportion to its length', () => {
  for (const piece of ['/', '://', '@', 'a/', '"token":', 'fl_test_1', 'Bearer ']) {
    const text = piece.repeat(16_384 / piece.length);
    const startMs = performance.now();
    for (let i = 0; i < 10; i++) redactBody(text, text.length);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  }
});
