import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HAS_CORPORA } from '../corpora.ts';
import { naughtyTexts } from '../own-cases/text.ts';
import { FULL } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, send } from '../signed-request.ts';
import { expectError } from './expect-error.ts';

const BATCHES = '/api/v1/payout-batches';
const ITEMS_PER_BATCH = 100;

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

interface Item {
  network: string;
  amount: string;
  address: string;
  memo?: string;
  real_name?: string;
}
const create = (batch: { description?: string; items: Item[] }): Promise<Answer> =>
  send(`${service.baseUrl}${BATCHES}`, merchant, {
    body: JSON.stringify({ currency: 'USDT', ...batch }),
    headers: { 'idempotency-key': randomUUID() },
  });
const read = (path: string) => send(`${service.baseUrl}${path}`, merchant);
const plain: Item = { network: 'erc20', amount: '1.00', address: 'a' };

const points = (text: string) => Array.from(text).length;
const storable = (text: string) => text.isWellFormed() && !text.includes('\0');
const withText = (text: string): Item => ({
  ...plain,
  real_name: text,
  ...(points(text) <= 128 ? { memo: text } : {}),
  ...(points(text) >= 1 && points(text) <= 256 ? { address: text } : {}),
});

const fromXss = [
  '</script><script>alert(1)</script>',
  '\u202e\u2066evil',
  '=cmd|calc',
  '\r\nSet-Cookie: a=b',
];
const texts = () => [...naughtyTexts(), ...fromXss];

test('D8: naughty text in every field of an item is stored byte for byte', async () => {
  const good = texts().filter(storable);
  expect(good.length).toBeGreaterThan(HAS_CORPORA ? 500 : 25);
  for (let from = 0; from < good.length; from += ITEMS_PER_BATCH) {
    const items = good.slice(from, from + ITEMS_PER_BATCH).map(withText);
    const { json } = await create({ items });
    const list = await read(`${BATCHES}/${String(json.batch_id)}/items?limit=${ITEMS_PER_BATCH}`);
    expect(list.json.data).toMatchObject(items);
    const [first] = list.json.data as { item_id: string }[];
    const one = await read(`${BATCHES}/${String(json.batch_id)}/items/${first?.item_id}`);
    expect(one.json).toMatchObject(items[0] as Item);
  }
});

test('D8: naughty text as a description and in a replaced item is read back equal', async () => {
  const draft = await create({ items: [plain] });
  const itemsPath = `${BATCHES}/${String(draft.json.batch_id)}/items`;
  const [first] = (await read(itemsPath)).json.data as { item_id: string }[];
  const path = `${itemsPath}/${first?.item_id}`;
  // Two fields and four requests each: a fifth of the texts is enough in a short run.
  for (const text of texts().filter((one, at) => storable(one) && (FULL || at % 5 === 0))) {
    const described = await create({ description: text, items: [plain] });
    expect(described.json.description).toBe(text);
    expect((await read(`${BATCHES}/${String(described.json.batch_id)}`)).json.description).toBe(text);
    const body = JSON.stringify(withText(text));
    const replaced = await send(`${service.baseUrl}${path}`, merchant, { method: 'PUT', body });
    expect(replaced.json).toMatchObject(withText(text));
    expect((await read(path)).json).toMatchObject(withText(text));
  }
}, 60_000);

test('D8: what cannot be stored, or is too long, is 400 and never 5xx', async () => {
  const bad = [...texts().filter((text) => !storable(text)), 'a\0b', '\ud800', 'x\udfff'];
  for (const text of bad) {
    for (const batch of [{ description: text, items: [plain] }, { items: [{ ...plain, memo: text }] }]) {
      expectError(await create(batch), BATCHES, { status: 400, code: 'invalid_request' });
    }
  }
  for (const text of texts().filter((one) => storable(one) && points(one) > 128)) {
    expectError(await create({ items: [{ ...plain, memo: text }] }), BATCHES, { status: 400 });
  }
});

test('D8: text that looks equal is not: no normal form, no case, no trimming', async () => {
  const alike = [
    'é',
    'e\u0301',
    'E\u0301',
    'ﬁ',
    'fi',
    ' fi',
    'fi ',
    'fi\u200b',
    'ﬀ',
    'K',
    '\u212a',
    '\ufefffi',
  ];
  const items = alike.map((text) => ({ ...plain, address: text, memo: text, real_name: text }));
  const { json } = await create({ description: alike.join('|'), items });
  expect(json.description).toBe(alike.join('|'));
  const list = await read(`${BATCHES}/${String(json.batch_id)}/items?limit=100`);
  expect((list.json.data as Item[]).map(({ memo }) => memo)).toEqual(alike);
});

test('D8: naughty text in a query finds nothing or is 400, and never 5xx', async () => {
  for (const text of texts().filter((one) => one.isWellFormed())) {
    const value = encodeURIComponent(text);
    for (const query of [`idempotency_key=${value}`, `starting_after=${value}`, `status=${value}`]) {
      const answer = await read(`${BATCHES}?${query}`);
      expect([text, query, [200, 400].includes(answer.status)]).toEqual([text, query, true]);
      if (answer.status === 400) expectError(answer, BATCHES, { status: 400, code: 'invalid_request' });
      else expect(answer.json).toMatchObject({ object: 'list' });
    }
    const asName = await read(`${BATCHES}?${value}=1`);
    expect([text, asName.status, asName.json.errorCode]).toEqual([text, 400, 'invalid_request']);
  }
}, 60_000);
