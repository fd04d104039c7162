import { randomUUID } from 'node:crypto';
import type { PayoutBatch } from '@florin/contract/schemas';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bodyDigest } from '../../packages/server/src/platform/db/guards/idempotency.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import type { Answer } from '../signed-request.ts';
import { untilHeldUp } from '../subscriptions/by-hand.ts';
import { bodyOf, type Calls, caller, configure, TO, verdict } from './requests.ts';

/** The wait of B11 made short: how long is the pool's business, that it ends in 503 is ours. */
const WAIT_MS = 1_500;

let service: TestService;
let merchant: TestMerchant;
/** The same merchant on two nodes. */
let nodes: [Calls, Calls];
let calls: Calls;

beforeAll(async () => {
  service = await startService({ lockTimeoutMs: WAIT_MS });
  merchant = await service.createMerchant();
  const second = await service.addNode();
  calls = caller(service, merchant);
  nodes = [calls, caller(service, merchant, second)];
});
afterAll(() => service.stop());
afterEach(() => expectLedgerWhole(service));

const idOf = (answer: Answer) => String(answer.json.batch_id);
const isReplay = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true';
async function batchesOf(key: string): Promise<PayoutBatch[]> {
  const { json } = await calls.call(`/payout-batches?limit=100&idempotency_key=${encodeURIComponent(key)}`);
  return json.data as PayoutBatch[];
}

test('B1, fault 17: 200 identical concurrent creates over two nodes make one batch, in every round, without a 500', async () => {
  for (let round = 0; round < scaled(50, 2); round++) {
    const key = randomUUID();
    const body = JSON.stringify(bodyOf(['1', '2', '3']));
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => nodes[i % 2 === 0 ? 0 : 1].create(body, key)),
    );
    const said = answers.map((answer) => answer.status);
    expect(said.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const made = answers.filter((answer) => answer.status === 200);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(idOf)).size).toBe(1);
    expect(made.filter((answer) => !isReplay(answer)).length).toBe(1);
    expect(new Set(made.map((answer) => answer.text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status === 503)) {
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
    }
    expect((await batchesOf(key)).map((batch) => batch.batch_id)).toEqual([idOf(made[0] as Answer)]);
  }
});

const item = (amount: string) => ({ network: 'erc20', address: TO.erc20.succeed, amount });
/** Pairs of bodies, as text: the second is equal JSON in other bytes. */
const SAME: [string, string, string][] = [
  ['the very same', '{"currency":"USDT","items":[X]}', '{"currency":"USDT","items":[X]}'],
  ['key order', '{"currency":"USDT","items":[X]}', '{"items":[X],"currency":"USDT"}'],
  ['white space', '{"currency":"USDT","items":[X]}', ' {\t"currency" :\n"USDT", "items":\r[ X ] } '],
  [
    'key order inside an item',
    '{"currency":"USDT","items":[{"network":"erc20","address":"A","amount":"1"}]}',
    '{"currency":"USDT","items":[{"amount":"1","address":"A","network":"erc20"}]}',
  ],
  ['escapes', '{"currency":"USDT","items":[X]}', '{"curr\\u0065ncy":"\\u0055SDT","items":[X]}'],
  [
    'a surrogate pair and its escape',
    '{"currency":"USDT","description":"🦊","items":[X]}',
    '{"currency":"USDT","description":"\\ud83e\\udd8a","items":[X]}',
  ],
];
const OTHER: [string, string, string][] = [
  ['an amount', '{"currency":"USDT","items":[X]}', '{"currency":"USDT","items":[Y]}'],
  ['the same amount written otherwise', '{"currency":"USDT","items":[X]}', '{"currency":"USDT","items":[Z]}'],
  ['order of items', '{"currency":"USDT","items":[X,Y]}', '{"currency":"USDT","items":[Y,X]}'],
  ['one item more', '{"currency":"USDT","items":[X]}', '{"currency":"USDT","items":[X,X]}'],
  ['the currency', '{"currency":"USDT","items":[X]}', '{"currency":"USDC","items":[X]}'],
  ['absent and empty', '{"currency":"USDT","items":[X]}', '{"currency":"USDT","description":"","items":[X]}'],
  [
    'a space in a text',
    '{"currency":"USDT","description":"a","items":[X]}',
    '{"currency":"USDT","description":"a ","items":[X]}',
  ],
  [
    'case of a text',
    '{"currency":"USDT","description":"a","items":[X]}',
    '{"currency":"USDT","description":"A","items":[X]}',
  ],
  [
    'composed and decomposed',
    '{"currency":"USDT","description":"é","items":[X]}',
    '{"currency":"USDT","description":"e\\u0301","items":[X]}',
  ],
  [
    'a memo',
    '{"currency":"USDT","items":[X]}',
    '{"currency":"USDT","items":[{"network":"erc20","address":"A","amount":"1","memo":"m"}]}',
  ],
];
const fill = (text: string) =>
  text
    .replaceAll('X', JSON.stringify(item('1')))
    .replaceAll('Y', JSON.stringify(item('2')))
    .replaceAll('Z', JSON.stringify(item('1.00')))
    .replaceAll('"A"', JSON.stringify(TO.erc20.succeed));

test.each(SAME)('B4: %s is the same request', async (_what, first, second) => {
  for (const [a, b] of [
    [first, second],
    [second, first],
  ] as const) {
    const key = randomUUID();
    const made = await nodes[0].create(fill(a), key);
    const again = await nodes[1].create(fill(b), key);
    expect([made.status, again.status]).toEqual([200, 200]);
    expect([isReplay(made), isReplay(again)]).toEqual([false, true]);
    expect(again.text).toBe(made.text);
  }
});

test.each(OTHER)(
  'B4: %s makes another request: 409, and the first batch stays as it was',
  async (_what, first, second) => {
    for (const [a, b] of [
      [first, second],
      [second, first],
    ] as const) {
      const key = randomUUID();
      const made = await nodes[0].create(fill(a), key);
      const refused = await nodes[1].create(fill(b), key);
      expect([made.status, verdict(refused)]).toEqual([200, '409 conflict']);
      expect(await calls.read(idOf(made))).toEqual(made.json);
      expect((await batchesOf(key)).length).toBe(1);
    }
  },
);

/** JSON with its keys in another order, other white space and some characters escaped. */
function otherwise(value: unknown): string {
  if (Array.isArray(value)) return `[ ${value.map(otherwise).join(' ,\n')} ]`;
  if (typeof value === 'string') return JSON.stringify(value).replace(/[aeiou]/, escaped);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toReversed();
  return `{\t${entries.map(([key, inner]) => `${otherwise(key)} : ${otherwise(inner)}`).join(',')}}`;
}
const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

const text = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .map((raw) => raw.toWellFormed().replaceAll('\0', ''));
const anyBody = fc.record(
  {
    currency: fc.constantFrom('USDT', 'USDC'),
    description: text,
    items: fc.array(
      fc.record(
        {
          network: fc.constant('erc20'),
          address: fc.constant(TO.erc20.succeed),
          amount: fc.integer({ min: 1, max: 999 }).map(String),
          real_name: text,
          memo: text,
        },
        { requiredKeys: ['network', 'address', 'amount'] },
      ),
      { minLength: 1, maxLength: 4 },
    ),
  },
  { requiredKeys: ['currency', 'items'] },
);
type AnyBody = typeof anyBody extends fc.Arbitrary<infer T> ? T : never;
/** Changes that make a body another request. */
const CHANGES: ((body: AnyBody) => object)[] = [
  (body) => ({ ...body, currency: body.currency === 'USDT' ? 'USDC' : 'USDT' }),
  (body) => ({ ...body, description: `${body.description ?? ''} ` }),
  (body) => ({ ...body, items: [...body.items, ...body.items] }),
  (body) => ({ ...body, items: body.items.map((one) => ({ ...one, amount: `${one.amount}.10` })) }),
  (body) => ({ ...body, items: body.items.map((one) => ({ ...one, memo: `${one.memo ?? ''}.` })) }),
  (body) => ({ ...body, items: body.items.map((one) => ({ ...one, address: TO.erc20.stuck })) }),
];

test('B4: 30 random bodies are the same request however they are written, and another one after a change', async () => {
  const bodies = fc.sample(anyBody, 30);
  const said = await Promise.all(
    bodies.map(async (body, i) => {
      const key = randomUUID();
      const made = await nodes[0].create(body, key);
      const again = await nodes[1].create(otherwise(body), key);
      const changed = await nodes[0].create(CHANGES[i % CHANGES.length]?.(body) ?? {}, key);
      return [verdict(made), isReplay(again), again.text === made.text, verdict(changed)];
    }),
  );
  expect(said).toEqual(bodies.map(() => ['200 draft', true, true, '409 conflict']));
});

test('fault 18: two concurrent bodies with one key: one of them wins, the other is always 409', async () => {
  const key = randomUUID();
  const bodies = [JSON.stringify(bodyOf(['1'])), JSON.stringify(bodyOf(['2']))];
  const answers = await Promise.all(
    Array.from({ length: scaled(200, 40) }, (_, i) =>
      nodes[i % 2 === 0 ? 0 : 1].create(bodies[Math.floor(i / 2) % 2] ?? '', key),
    ),
  );
  const won = answers.findIndex((answer) => answer.status === 200);
  const winner = Math.floor(won / 2) % 2;
  for (const [i, answer] of answers.entries()) {
    if (answer.status === 503) continue;
    expect(verdict(answer)).toBe(Math.floor(i / 2) % 2 === winner ? '200 draft' : '409 conflict');
  }
  expect((await batchesOf(key)).length).toBe(1);
});

test('B5: the key is the merchant’s: its other store gets the first batch, other merchants have their own', async () => {
  const key = randomUUID();
  const ids = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const first = await service.createMerchant({ funds: 0n });
      const second = await service.addStore(first);
      const made = await caller(service, first).create(bodyOf(['1']), key);
      const again = await caller(service, second).create(bodyOf(['1']), key);
      expect([made.status, again.status, isReplay(again)]).toEqual([200, 200, true]);
      expect(again.text).toBe(made.text);
      const other = await caller(service, second).create(bodyOf(['2']), key);
      expect(verdict(other)).toBe('409 conflict');
      return idOf(made);
    }),
  );
  expect(new Set(ids).size).toBe(3);
});

test('B7: a refused request does not bind the key: the corrected request can use it', async () => {
  const own = await service.createMerchant({ funds: 0n });
  const there = caller(service, own);
  const key = randomUUID();
  await configure(service, own, { min: '5.00' });
  const refused = [
    await there.create('{"currency"', key),
    await there.create({ currency: 'USDT', items: [] }, key),
    await there.create({ ...bodyOf(['1']), note: 1 }, key),
    await there.create(bodyOf(['1']), key),
    await there.create(bodyOf(['9'.repeat(40)]), key),
  ];
  expect(refused.map(verdict)).toEqual([
    '400 invalid_request',
    '400 batch_empty_items',
    '400 invalid_request',
    '400 batch_amount_too_low',
    '400 batch_amount_limit_exceeded',
  ]);
  const made = await there.create(bodyOf(['7']), key);
  expect([made.status, isReplay(made)]).toEqual([200, false]);
});

test('B7: a replay answers the batch as it is now, whatever happened since, and no rule refuses it', async () => {
  const own = await service.createMerchant();
  const there = caller(service, own);
  const key = randomUUID();
  const made = await there.create(bodyOf(['5']), key);
  await configure(service, own, { min: '100.00', max: '100.00' });
  expect((await there.create(bodyOf(['5']), key)).json).toEqual(made.json);
  const submitted = await there.submit(idOf(made));
  expect((await there.create(bodyOf(['5']), key)).json).toEqual(submitted.json);
  const canceled = await there.cancel(idOf(made));
  const again = await there.create(bodyOf(['5']), key);
  expect([again.json, isReplay(again)]).toEqual([canceled.json, true]);
});

const KEYS: [string, string | undefined, boolean][] = [
  ['absent', undefined, false],
  ['empty', '', false],
  ['only spaces, which HTTP trims', '   ', false],
  ['one character', 'a', true],
  ['128 characters', 'k'.repeat(128), true],
  ['129 characters', 'k'.repeat(129), false],
  ['a space inside', 'order 17', true],
  [
    'every printable character',
    Array.from({ length: 93 }, (_, i) => String.fromCharCode(i + 34)).join(''),
    true,
  ],
  ['an exclamation mark', '!', true],
  ['a tilde', '~', true],
  ['a comma', 'a, b', true],
  ['a tab inside', 'a\tb', false],
  ['like a parameter', 'a;b=c', true],
  ['Latin-1', 'é', false],
  ['Latin-1 no-break space', 'a\u00a0b', false],
  ['quotes', '"a"', true],
  ['percent', '%00%0a', true],
  ['a path', '../../etc/passwd', true],
  ['a statement', "'; drop table payout_batch; --", true],
  ['a number', '0', true],
];
test.each(KEYS)('B10: a key that is %s', async (_what, key, allowed) => {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await calls.post('/payout-batches', bodyOf(['1']), headers as Record<string, string>);
  expect(verdict(answer)).toBe(allowed ? '200 draft' : '400 invalid_request');
  if (!allowed || key === undefined) return;
  const again = await calls.post('/payout-batches', bodyOf(['1']), { 'idempotency-key': key });
  expect([idOf(again), isReplay(again)]).toEqual([idOf(answer), true]);
  expect((await batchesOf(key)).map((batch) => batch.batch_id)).toEqual([idOf(answer)]);
});

test('B10: keys differ by case, and by a space inside', async () => {
  const ids = [];
  for (const key of ['Case', 'case', 'a b', 'a  b', 'ab'])
    ids.push(idOf(await calls.create(bodyOf(['1']), key)));
  expect(new Set(ids).size).toBe(5);
});

/** Holds a key as a first request does that is paused inside its transaction. */
async function pauseFirst(key: string, body: object) {
  const first = new pg.Client({ connectionString: service.app.databaseUrl });
  await first.connect();
  await first.query('begin');
  await first.query(
    `insert into idempotency_key (merchant_id, operation, key, digest, store_id, resource_id, created_at)
     values ($1, 'payout_batch.create', $2, $3, $4, $5, 1)`,
    [merchant.merchantId, key, bodyDigest(body), merchant.storeId, newId()],
  );
  return {
    end: async (how: 'rollback' | 'commit') => {
      await first.query(how);
      await first.end();
    },
  };
}

test('B11: while the first request runs the second waits and then is 503, never 409, and makes no second batch', async () => {
  const key = randomUUID();
  const body = bodyOf(['1']);
  const first = await pauseFirst(key, body);
  const started = performance.now();
  const [same, other, free] = await Promise.all([
    nodes[0].create(body, key),
    nodes[1].create(bodyOf(['2']), key),
    nodes[1].create(body, randomUUID()),
  ]);
  const tookMs = performance.now() - started;
  expect([same, other].map(verdict)).toEqual(['503 service_unavailable', '503 service_unavailable']);
  for (const answer of [same, other]) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
  expect(tookMs).toBeGreaterThan(WAIT_MS - 100);
  expect(tookMs).toBeLessThan(10_000);
  expect(free.status).toBe(200);
  expect(await batchesOf(key)).toEqual([]);

  await first.end('rollback');
  const made = await nodes[1].create(body, key);
  expect([made.status, isReplay(made)]).toEqual([200, false]);
  expect((await batchesOf(key)).length).toBe(1);
});

test('B11: a waiting second request gets the first one’s batch as soon as it is committed', async () => {
  const key = randomUUID();
  const body = bodyOf(['1']);
  const made = await nodes[0].create(body, key);
  // The row of the key locked anew stands for a first request that has not committed yet.
  const holder = new pg.Client({ connectionString: service.app.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query(`delete from idempotency_key where merchant_id = $1 and key = $2`, [
    merchant.merchantId,
    key,
  ]);
  const second = nodes[1].create(body, key);
  const winner = await Promise.race([second, untilHeldUp(service, second).then(() => 'waits')]);
  expect(winner).toBe('waits');
  await holder.query('rollback');
  await holder.end();
  expect((await second).json).toEqual(made.json);
});

test('fault 19: a key is free for another operation of the same merchant', async () => {
  const key = randomUUID();
  await asOwner(
    service,
    `insert into idempotency_key (merchant_id, operation, key, digest, store_id, resource_id, created_at)
     values ($1, 'subscription.create', $2, $3, $4, $5, 1)`,
    [merchant.merchantId, key, bodyDigest({}), merchant.storeId, newId()],
  );
  const made = await calls.create(bodyOf(['1']), key);
  expect([made.status, isReplay(made)]).toEqual([200, false]);
});
