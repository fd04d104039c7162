import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { explainRefusal, type RefusalEvidence } from './explain-refusal.ts';

const NOW_MS = 1_700_000_000_000;
const evidence: RefusalEvidence = {
  apiKey: 'fl_test_a',
  secrets: {
    current: `fls_test_${'x'.repeat(40)}`,
    previous: undefined,
    others: [],
    expiresAtMs: undefined,
    revokedAtMs: undefined,
  },
  nameOf: (id) => id,
  exchange: {
    method: 'GET',
    url: '/api/v1/balances',
    headers: {
      authorization: 'Bearer fl_test_a',
      'x-service-timestamp': String(NOW_MS / 1000 - 299),
      'x-service-nonce': 'a-nonce-of-some-length',
      'x-service-signature': '0'.repeat(64),
    },
    repeated: new Set(),
    remoteAddress: '',
    requestId: 'a',
    isCallersId: true,
    route: '/api/v1/balances',
    caller: undefined,
    body: undefined,
    bodyBytes: 0,
    refusedBody: Buffer.alloc(0),
    status: 401,
    seconds: 0,
    errorCode: 'authentication_required',
    refusal: 'timestamp',
    answer: undefined,
    answeredAtMs: NOW_MS,
  },
};

test('a timestamp that the database found too old is wrong, whatever the clock of this process says', () => {
  const timestamp = ({ steps }: ReturnType<typeof explainRefusal>) =>
    steps.find(({ name }) => name === 'timestamp')?.ok;
  expect(timestamp(explainRefusal(evidence))).toBe(false);
  const { exchange } = evidence;
  expect(timestamp(explainRefusal({ ...evidence, exchange: { ...exchange, refusal: 'signature' } }))).toBe(
    true,
  );
});

test('a hash without a key says nothing of the Secret Key', () => {
  const { exchange } = evidence;
  const { 'x-service-timestamp': timestamp, 'x-service-nonce': nonce } = exchange.headers;
  const hash = createHash('sha256').update(`${timestamp}.${nonce}.`).digest('hex');
  const headers = { ...exchange.headers, 'x-service-signature': hash };
  const { summary, steps } = explainRefusal({
    ...evidence,
    exchange: { ...exchange, refusal: 'signature', headers },
  });
  expect(summary).toMatch(/SHA-256 of the payload alone/);
  expect(steps.find(({ name }) => name === 'secret key')?.ok).toBeNull();
});

test('an empty secret is called empty, whatever the secret would be as hex', () => {
  const { secrets, exchange } = evidence;
  for (const first of ['x', 'ab']) {
    const known = { ...secrets, current: `fls_test_${first}${'x'.repeat(40)}` };
    const { 'x-service-timestamp': timestamp, 'x-service-nonce': nonce } = exchange.headers;
    const mac = createHmac('sha256', '').update(`${timestamp}.${nonce}.`).digest('hex');
    const headers = { ...exchange.headers, 'x-service-signature': mac };
    const signed = { ...exchange, refusal: 'signature', headers };
    expect(explainRefusal({ ...evidence, secrets: known, exchange: signed }).summary).toMatch(/empty secret/);
  }
});
