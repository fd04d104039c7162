import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Candidates, search } from './search.ts';
import { bodyVariants } from './variants.ts';

const request = {
  timestamp: '1700000000',
  nonce: 'a-nonce-of-some-length',
  method: 'POST',
  url: '/api/v1/x',
};
const candidatesOf = (body: Buffer, url = request.url): Candidates => ({
  request: { ...request, url },
  body,
  secrets: {
    current: 'fls_test_the-secret',
    previous: undefined,
    others: [],
    expiresAtMs: undefined,
    revokedAtMs: undefined,
  },
  apiKey: 'fl_test_the-key',
  receivedAtMs: 1,
  nameOf: (id) => id,
});

const HOSTILE: readonly (readonly [what: string, body: string])[] = [
  ['many levels', `${'['.repeat(2_048)}${']'.repeat(2_048)}`],
  ['as many as fit', `${'['.repeat(8_192)}${']'.repeat(8_192)}`],
  ['objects in each other', `${'{"a":'.repeat(2_700)}0${'}'.repeat(2_700)}`],
  [
    'an allowed depth, and many values at the end',
    `${'['.repeat(32)}${'1,'.repeat(8_000)}1${']'.repeat(32)}`,
  ],
  ['numbers that are longer when they are written out', `[${'1e20,'.repeat(3_000)}1]`],
  ['brackets that never end', '['.repeat(16_384)],
  ['escapes', `"${'\\"'.repeat(8_000)}"`],
];

test.each(HOSTILE)('what may have been signed is never much more than the body: %s', (_, text) => {
  const body = Buffer.from(text);
  for (const { value } of bodyVariants(body))
    expect(value.length).toBeLessThanOrEqual(4 * body.length + 1_024);
});

test('brackets in texts are no levels', () => {
  const value = { a: '[{'.repeat(40), b: '\\"['.repeat(40) };
  const forms = bodyVariants(Buffer.from(JSON.stringify(value))).map((one) => one.value.toString());
  expect(forms).toContain(JSON.stringify(value, null, 4));
});

test('a search ends by its work, however long the parts of a request are', () => {
  const body = Buffer.from('{"a":1}');
  // A pair: without the nonce, and with the API key as the secret.
  const wanted = createHmac('sha256', 'fl_test_the-key')
    .update(`${request.timestamp}.`)
    .update(body)
    .digest();
  expect(search(candidatesOf(body), wanted)).toBeDefined();
  expect(search(candidatesOf(body, `/${'x'.repeat(2 ** 20)}`), wanted)).toBeUndefined();
});
