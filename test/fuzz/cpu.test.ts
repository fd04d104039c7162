import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { signedHeaders } from '../signed-request.ts';

/** Of a request, whatever is in it; and of one with a whole body of 1 MiB. */
const REQUEST_MS_MAX = 50;
const LARGE_MS_MAX = 150;
const TRIES = 3;
/** The CPU time of the reference work on a machine at rest; beside it, how much slower a machine counts as at most. */
const REFERENCE_MS = 10;
const SLOWNESS_MAX = 4;
const NAME_LENGTH = 10_000;
const BODY_LENGTH = 1_040_000;
const SEED = Number(process.env.FLORIN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31)) | 0;
const RUNS = 40;

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
});
afterAll(async () => {
  await service?.stop();
});

/** What readers of names, addresses and secrets look for, and pieces of any kind. */
const piece = fc.oneof(
  fc.constantFrom(
    'token-',
    'a-',
    'a.',
    'x://',
    'x://u:',
    'password=',
    '"secret":"',
    'fl_test_',
    '-----BEGIN ',
    '/',
    '.',
    '..',
    '[0]',
  ),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
);
const filled = (text: string, length: number) =>
  text
    .repeat(Math.ceil(length / text.length))
    .slice(0, length)
    .toWellFormed();

interface Sent {
  path: string;
  body?: string;
  headers?: Record<string, string>;
}

/** Places of a request that take a name of anybody's making. */
const PLACES: Record<string, (name: string) => Sent> = {
  path: (name) => ({ path: `/api/v1/events/${encodeURIComponent(name).slice(0, NAME_LENGTH)}` }),
  'unknown path': (name) => ({ path: `/${encodeURIComponent(name).slice(0, NAME_LENGTH)}` }),
  'query name': (name) => ({ path: `/api/v1/events?${encodeURIComponent(name).slice(0, NAME_LENGTH)}=1` }),
  'query value': (name) => ({
    path: `/api/v1/events?type=${encodeURIComponent(name).slice(0, NAME_LENGTH)}`,
  }),
  'field name': (name) => ({ path: '/api/v1/payout-batches', body: JSON.stringify({ [name]: 1 }) }),
  'inner field name': (name) => ({
    path: '/api/v1/payout-batches',
    body: JSON.stringify({ currency: 'USDT', items: [{ [name]: { [name]: 1 } }] }),
  }),
  'field value': (name) => ({
    path: '/api/v1/payout-batches',
    body: JSON.stringify({ currency: name, items: [{ network: 'erc20', address: name, amount: name }] }),
  }),
  'key of metadata': (name) => ({
    path: '/api/v1/checkout/sessions/create',
    body: JSON.stringify({ amount: 1, currency: 'USD', metadata: { [name]: name } }),
  }),
  url: (name) => ({ path: '/api/v1/webhook_endpoints', body: JSON.stringify({ url: `https://${name}` }) }),
};

/** Bodies of nearly 1 MiB that are wrong in each of their parts. */
const LARGE: Record<string, (text: string) => string> = {
  'one name': (text) => JSON.stringify({ [filled(text, BODY_LENGTH / 2)]: 1 }),
  'one value': (text) => JSON.stringify({ currency: filled(text, BODY_LENGTH / 2) }),
  'many names': (text) =>
    `{${Array.from({ length: 100_000 }, (_, at) => `${JSON.stringify(text + at).slice(0, 8)}${at}":0`)
      .join(',')
      .slice(0, BODY_LENGTH)}`,
  'long names': (text) =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [filled(text, 100) + at, at])),
    ),
  'many items': () => JSON.stringify({ currency: 'USDT', items: Array(300_000).fill({}) }),
  'many numbers': () => JSON.stringify({ currency: 'USDT', items: Array(500_000).fill(1) }),
  'a long amount': () =>
    JSON.stringify({
      currency: 'USDT',
      items: [{ network: 'erc20', address: 'x', amount: '9'.repeat(BODY_LENGTH) }],
    }),
  'a long address': () =>
    JSON.stringify({
      currency: 'USDT',
      items: [{ network: 'spl', address: '2'.repeat(BODY_LENGTH), amount: '1' }],
    }),
};

/** 1 MiB, the same in every run. */
const REFERENCE = JSON.stringify(Array.from({ length: 30_000 }, (_, at) => ({ at, text: `value ${at}` })));

/** Milliseconds of this process's CPU, which serves and sends. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** How much slower than at rest the machine is now: others that run on the same cores make each instruction slower too. */
async function slowness(): Promise<number> {
  const ms = await cpuMsOf(() => {
    JSON.parse(REFERENCE);
    createHash('sha256').update(REFERENCE).digest();
  });
  return Math.min(Math.max(ms / REFERENCE_MS, 1), SLOWNESS_MAX);
}

/**
 * The CPU of one request alone, as on a machine at rest: the best of three, or of nine where three were above the budget.
 */
async function cpuMsOfRequest(
  { path, body, headers }: Sent,
  budgetMs: number,
): Promise<{ ms: number; status: number }> {
  let ms = Number.POSITIVE_INFINITY;
  let status = 0;
  for (let at = 0; at < TRIES || (ms >= budgetMs && at < 3 * TRIES); at++) {
    const signed = {
      ...signedHeaders(merchant, body === undefined ? {} : { body }),
      'idempotency-key': `cpu-${at}`,
      ...headers,
    };
    const before = await slowness();
    const taken = await cpuMsOf(async () => {
      const answer = await fetch(`${service.baseUrl}${path}`, {
        headers: signed,
        ...(body === undefined ? {} : { method: 'POST', body }),
      });
      await answer.text();
      status = answer.status;
    });
    ms = Math.min(ms, taken / Math.max(before, await slowness()));
  }
  return { ms, status };
}

test(`a request with a name of ${NAME_LENGTH} characters takes ${REQUEST_MS_MAX} ms of CPU at most`, async () => {
  const one = fc.tuple(fc.constantFrom(...Object.keys(PLACES)), piece, fc.boolean());
  await fc.assert(
    fc.asyncProperty(one, async ([place, text, isKnown]) => {
      const sent = PLACES[place]?.(filled(text, NAME_LENGTH)) ?? { path: '/' };
      const { ms, status } = await cpuMsOfRequest(
        isKnown ? sent : { ...sent, headers: { authorization: '' } },
        REQUEST_MS_MAX,
      );
      expect(status, place).toBeLessThan(500);
      expect(ms, `${place} of ${JSON.stringify(text)}`).toBeLessThan(REQUEST_MS_MAX);
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  );
}, 120_000);

test(`a body of 1 MiB takes ${LARGE_MS_MAX} ms of CPU at most`, async () => {
  await fc.assert(
    fc.asyncProperty(piece, async (text) => {
      for (const [what, make] of Object.entries(LARGE)) {
        const { ms, status } = await cpuMsOfRequest(
          { path: '/api/v1/payout-batches', body: make(text) },
          LARGE_MS_MAX,
        );
        expect(status, what).toBeLessThan(500);
        expect(ms, `${what} of ${JSON.stringify(text)}`).toBeLessThan(LARGE_MS_MAX);
      }
    }),
    { seed: SEED, numRuns: 3, endOnFailure: true },
  );
}, 120_000);
