import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { amountTexts } from '../own-cases/text.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, send } from '../signed-request.ts';
import { expectError } from './expect-error.ts';

const BATCHES = '/api/v1/payout-batches';
const FUND = '/api/v1/test_helpers/fund';
/** Of the specification, section 4.2. */
const PATTERN = /^(?:0\.(?:0[1-9]|[1-9][0-9]?)|[1-9][0-9]*(?:\.[0-9]{1,2})?)$/;
const FUND_MAX = 1_000_000_000_000_000;

let service: TestService;
let merchant: TestMerchant;
/** An item of a draft that may be replaced. */
let itemPath: string;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  const batch = await create('"1.00"');
  const items = await send(`${service.baseUrl}${BATCHES}/${String(batch.json.batch_id)}/items`, merchant);
  itemPath = `${BATCHES}/${String(batch.json.batch_id)}/items/${(items.json.data as { item_id: string }[])[0]?.item_id}`;
});
afterAll(() => service.stop());

const item = (raw: string) => `{"network":"erc20","address":"nowhere","amount":${raw}}`;
const create = (raw: string): Promise<Answer> =>
  send(`${service.baseUrl}${BATCHES}`, merchant, {
    body: `{"currency":"USDT","items":[${item(raw)}]}`,
    headers: { 'idempotency-key': randomUUID() },
  });
const replace = (raw: string): Promise<Answer> =>
  send(`${service.baseUrl}${itemPath}`, merchant, { method: 'PUT', body: item(raw) });
const fund = (raw: string): Promise<Answer> =>
  send(`${service.baseUrl}${FUND}`, merchant, {
    body: `{"currency":"USDT","network":"erc20","amount":${raw}}`,
  });

/** An amount that the pattern allows is taken, unless the batch's maximum forbids it. */
function expectAsPattern(answer: Answer, text: string): void {
  const allowed = PATTERN.test(text);
  const tooMuch = allowed && BigInt(text.split('.')[0] ?? '') > 1_000_000n;
  if (allowed && !tooMuch) expect([text, answer.status]).toEqual([text, 200]);
  else
    expectError(answer, BATCHES, {
      status: 400,
      code: tooMuch ? 'batch_amount_limit_exceeded' : 'invalid_request',
    });
}

test('D3: texts of every kind as the amount of an item: those of the pattern are taken, all others are 400', async () => {
  const texts = amountTexts();
  expect(texts.filter((text) => PATTERN.test(text)).length).toBeGreaterThan(5);
  for (const text of texts) {
    if (!text.isWellFormed() || text.includes('\0')) continue;
    expectAsPattern(await create(JSON.stringify(text)), text);
    expectAsPattern(await replace(JSON.stringify(text)), text);
  }
}, 60_000);

test('D3: the same without quotes are 400: money of payouts is text', async () => {
  for (const text of amountTexts()) {
    if (text.startsWith('"')) continue;
    expectError(await create(text), BATCHES, { status: 400, code: 'invalid_request' });
    expectError(await replace(text), BATCHES, { status: 400, code: 'invalid_request' });
  }
}, 60_000);

test('D3: where money is an integer, plain digits within bounds are taken and nothing else', async () => {
  for (const text of amountTexts()) {
    const quoted = await fund(JSON.stringify(text));
    expectError(quoted, FUND, { status: 400, code: 'invalid_request_error' });
    const allowed = /^[1-9][0-9]*$/.test(text.trim()) && BigInt(text.trim()) <= FUND_MAX;
    const bare = await fund(text);
    if (allowed) expect([text, bare.status]).toEqual([text, 200]);
    else expectError(bare, FUND, { status: 400 });
  }
}, 60_000);

const WRITTEN: [sent: string, read: string][] = [
  ['0.01', '0.01'],
  ['0.1', '0.10'],
  ['0.99', '0.99'],
  ['1', '1.00'],
  ['1.5', '1.50'],
  ['1.05', '1.05'],
  ['123456.78', '123456.78'],
  ['1000000', '1000000.00'],
];
for (const [sent, read] of WRITTEN) {
  test(`D3: ${sent} is kept to the cent and read as ${read}`, async () => {
    const { json } = await create(JSON.stringify(sent));
    const items = await send(`${service.baseUrl}${BATCHES}/${String(json.batch_id)}/items`, merchant);
    expect(items.json.data).toMatchObject([{ amount: read }]);
  });
}

test('D3: amounts that no column and no double holds are 400, in one item or in their sum', async () => {
  for (const text of [
    '1000000.01',
    '9007199254740993',
    '9223372036854.77',
    '9223372036854.78',
    '99999999999999999999999999.99',
    `1${'0'.repeat(1_000)}`,
    '9'.repeat(41),
    '9'.repeat(100_000),
    '9'.repeat(1_000_000),
  ]) {
    const answer = await create(JSON.stringify(text));
    expectError(answer, BATCHES, { status: 400, code: 'batch_amount_limit_exceeded' });
    const replaced = await replace(JSON.stringify(text));
    expectError(replaced, BATCHES, { status: 400, code: 'batch_amount_limit_exceeded' });
  }
  const many = Array.from({ length: 200 }, () => item('"46116860184.28"')).join(',');
  const answer = await send(`${service.baseUrl}${BATCHES}`, merchant, {
    body: `{"currency":"USDT","items":[${many}]}`,
    headers: { 'idempotency-key': randomUUID() },
  });
  expectError(answer, BATCHES, { status: 400, code: 'batch_amount_limit_exceeded' });
});
