import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { expectError, isPayoutPath } from './expect-error.ts';
import { type Api, callOf, loadApi, type Operation, resolved, sampleOf } from './operations.ts';

const BATCHES = '/api/v1/payout-batches';

let service: TestService;
let merchant: TestMerchant;
let api: Api;
/** Paths of calls that can be asked: with ids that exist. */
let pathOf: (operation: Operation) => string;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  api = await loadApi(service.baseUrl);
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const item = { network: 'erc20', address: erc20.succeed, amount: '1.00' } as const;
  const batch = await merchant.sdk.payouts.create({ currency: 'USDT', items: [item] });
  pathOf = (operation) => callOf('', api, operation, { batch_id: batch.batch_id }).path;
});
afterAll(() => service.stop());

const call = (pathAndQuery: string) => send(`${service.baseUrl}${pathAndQuery}`, merchant);
const lists = () =>
  api.operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'limit'));

async function expectRefused(pathAndQuery: string, param?: string): Promise<void> {
  const code = isPayoutPath(pathAndQuery) ? 'invalid_request' : 'invalid_request_error';
  const answer = await call(pathAndQuery);
  expect([pathAndQuery, answer.status]).toEqual([pathAndQuery, 400]);
  expectError(answer, pathAndQuery, { status: 400, code, ...(param === undefined ? {} : { param }) });
}

const BAD_LIMITS = [
  '',
  '0',
  '-1',
  '101',
  '1000000',
  '10.0',
  '10.5',
  '1e1',
  '0x0a',
  '%2B5',
  '+5',
  '%205',
  '5%20',
  '05',
  '5,',
  '1_0',
  'ten',
  'null',
  'NaN',
  'Infinity',
  '9007199254740993',
  '99999999999999999999',
  '%D9%A1%D9%A0',
  '%EF%BC%95',
  '5%00',
  '[]',
  '%7B%7D',
  "1'or'1",
];

test('D3: limit is 1 to 100 in plain digits, on every list', async () => {
  expect(lists().length).toBeGreaterThan(3);
  for (const operation of lists()) {
    const path = pathOf(operation);
    for (const good of ['1', '10', '100']) {
      expect([operation.operationId, (await call(`${path}?limit=${good}`)).status]).toEqual([
        operation.operationId,
        200,
      ]);
    }
    for (const bad of BAD_LIMITS) await expectRefused(`${path}?limit=${bad}`, 'limit');
    await expectRefused(`${path}?limit`, 'limit');
  }
});

test('a list says its default of 10, whether there is more, and the url as received', async () => {
  const rich = await service.createMerchant({ funds: 0n });
  for (let n = 0; n < 11; n++) {
    await rich.sdk.testHelpers.fund({ currency: 'USDT', network: 'erc20', amount: '1.00' });
  }
  const of = async (query: string) =>
    (await send(`${service.baseUrl}/api/v1/ledger_entries${query}`, rich)).json as {
      object: string;
      data: { id: string }[];
      has_more: boolean;
      url: string;
    };
  const first = await of('');
  expect(first).toMatchObject({ object: 'list', has_more: true, url: '/api/v1/ledger_entries' });
  expect(first.data.length).toBe(10);
  const query = `?starting_after=${first.data[9]?.id}&&limit=10&`;
  const second = await of(query);
  expect(second).toMatchObject({ has_more: false, url: `/api/v1/ledger_entries${query}` });
  expect(second.data.length).toBe(1);
  expect(await of(`?limit=11`)).toMatchObject({ has_more: false });
  const last = await of(`?starting_after=${second.data[0]?.id}`);
  expect(last).toMatchObject({ data: [], has_more: false });
});

test('what a call does not declare is 400 with its name, on every call', async () => {
  for (const operation of api.operations) {
    const { url, path, options } = callOf(service.baseUrl, api, operation);
    for (const [query, param] of [
      ['nothing=1', 'nothing'],
      ['nothing', 'nothing'],
      ['expand%5B%5D=items', 'expand[]'],
      ['__proto__=1', '__proto__'],
      ['constructor=1', 'constructor'],
      ['Limit=1', 'Limit'],
      ['%00=1', '\0'],
    ] as const) {
      const answer = await send(`${url}?${query}`, merchant, options);
      expect([operation.operationId, query, answer.status]).toEqual([operation.operationId, query, 400]);
      expectError(answer, path, { status: 400, ...(isPayoutPath(path) ? {} : { param }) });
    }
  }
});

test('a parameter that is repeated or empty is 400, on every list', async () => {
  for (const operation of api.operations) {
    const queries = operation.parameters.filter((parameter) => parameter.in === 'query');
    for (const { name, schema } of queries) {
      const path = pathOf(operation);
      const value = encodeURIComponent(String(sampleOf(api, schema)));
      const isList = resolved(api, schema).type === 'array';
      if (!isList) await expectRefused(`${path}?${name}=${value}&${name}=${value}`, name);
      await expectRefused(`${path}?${name}=`, name);
      await expectRefused(`${path}?${name}`, name);
      await expectRefused(`${path}?${name}=${value}%00`, name);
      await expectRefused(`${path}?${name}=%ff`, name);
      await expectRefused(`${path}?${name}=%`, name);
      await expectRefused(`${path}?${name}%5B%5D=${value}`, `${name}[]`);
    }
  }
});

test('a value outside the listed ones is 400 with its name, on every list', async () => {
  let seen = 0;
  for (const operation of api.operations) {
    for (const { name, schema, in: place } of operation.parameters) {
      const listed = resolved(api, schema);
      if (place !== 'query' || listed.enum === undefined) continue;
      seen++;
      const path = pathOf(operation);
      expect((await call(`${path}?${name}=${String(listed.enum[0])}`)).status).toBe(200);
      for (const value of [
        'nothing',
        String(listed.enum[0]).toLowerCase().replace(/^./, '%20'),
        '1',
        'null',
      ]) {
        await expectRefused(`${path}?${name}=${value}`, name);
      }
    }
  }
  expect(seen).toBeGreaterThan(3);
});

test('C2: a cursor that is unknown, malformed or of another list is 400, on every list', async () => {
  const firstOf = async (path: string) => ((await call(path)).json.data as Record<string, string>[])[0] ?? {};
  const { batch_id: batch = '' } = await firstOf(BATCHES);
  const { id: entry = '' } = await firstOf('/api/v1/ledger_entries');
  expect([batch.slice(0, 3), entry.slice(0, 3)]).toEqual(['pb_', 'le_']);
  const own = { listPayoutBatches: batch, listLedgerEntries: entry } as Record<string, string>;
  for (const operation of lists()) {
    const path = pathOf(operation);
    const cursors = [
      'nothing',
      'pb_00000000000000000000000000',
      'pbi_00000000000000000000000000',
      'le_00000000000000000000000000',
      'evt_00000000000000000000000000',
      'pb_zzzzzzzzzzzzzzzzzzzzzzzzzz',
      batch,
      entry,
      batch.toUpperCase(),
      randomUUID(),
      `0x${'a'.repeat(60)}`,
      'x'.repeat(65),
      "' or 1=1 --",
      '0',
      '-1',
    ].filter((cursor) => cursor !== own[operation.operationId]);
    for (const cursor of cursors) {
      await expectRefused(`${path}?starting_after=${encodeURIComponent(cursor)}`, 'starting_after');
    }
  }
});

test('the key of a batch finds it, as long as it is the same to the letter', async () => {
  const key = 'An order: 17 & "more" / 100 %';
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [{ network: 'erc20', address: erc20.succeed, amount: '1.00' }];
  const created = await send(`${service.baseUrl}${BATCHES}`, merchant, {
    body: JSON.stringify({ currency: 'USDT', items }),
    headers: { 'idempotency-key': key },
  });
  const find = async (text: string) =>
    (await call(`${BATCHES}?idempotency_key=${encodeURIComponent(text)}`)).json.data as {
      batch_id: string;
    }[];
  expect((await find(key)).map((batch) => batch.batch_id)).toEqual([created.json.batch_id]);
  const spaced = `${BATCHES}?idempotency_key=${encodeURIComponent(key).replaceAll('%20', '+')}`;
  expect((await call(spaced)).json.data).toHaveLength(1);
  for (const other of [key.toLowerCase(), `${key} `, key.slice(1), '%', '_']) {
    expect(await find(other)).toEqual([]);
  }
});
