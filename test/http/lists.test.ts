import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { type Api, loadApi, type Operation } from './operations.ts';

const API = '/api/v1';
const USDT = { currency: 'USDT', network: 'erc20' };

let service: TestService;
let merchant: TestMerchant;
let api: Api;
let lists: Operation[] = [];
/** What stands in the paths of lists. */
const place: Record<string, string> = { network: 'erc20' };

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  api = await loadApi(service.baseUrl);
  lists = api.operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'starting_after'));
  for (const n of [1, 2, 3]) await makeOneOfEach(n);
  const areRefunded = async () =>
    (await read(listOf('listRefunds'), {})).data.every(({ status }) => status === 'succeeded');
  await vi.waitUntil(areRefunded, { timeout: 60_000, interval: 200 });
}, 120_000);
afterAll(async () => {
  await service?.stop();
});

/** What was made, with the id that paths take. */
type Made = Record<string, unknown> & { id: string };

async function post(path: string, body: object, key?: string): Promise<Made> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await send(`${service.baseUrl}${API}${path}`, merchant, {
    body: JSON.stringify(body),
    headers,
  });
  expect(answer.status, `${path} ${answer.text}`).toBe(200);
  return { ...answer.json, id: String(answer.json.id) };
}

/** Resources of every kind that some list shows. */
async function makeOneOfEach(n: number): Promise<void> {
  const { json } = await send(`${service.baseUrl}${API}/test_helpers/addresses`, merchant);
  const address = (json as Record<string, { succeed: string }>).erc20?.succeed;
  const item = { network: 'erc20', address, amount: '1.50' };
  const batch = await post('/payout-batches', { currency: 'USDT', items: [item, item, item] }, `batch-${n}`);
  place.batch_id = String(batch.batch_id);
  const customer = `customer-${n}`;
  const endpoint = await post('/webhook_endpoints', { url: `https://hooks.example/${n}` });
  await post(`/webhook_endpoints/${endpoint.id}/test`, {});
  await post('/payment_links', { amount: 500, currency: 'USD' });
  const session = await post('/checkout/sessions/create', {
    amount: 5_000_000,
    currency: 'USDT',
    customer,
    customer_email: `${customer}@shop.example`,
    order_id: `order-${n}`,
    description: `=cmd|' /C calc'!A${n}`,
  });
  await post(`/test_helpers/checkout/sessions/${session.id}/pay`, { ...USDT, connected: true });
  await post('/refunds/create', {
    refund_id: `refund-${n}`,
    payment_id: session.payment_id,
    amount: 1_000_000,
    currency: 'USDT',
  });
  const recurring = { interval: 'month' };
  const items = [{ price_data: { currency: 'USD', product: 'Gold', unit_amount: 2_000, recurring } }];
  const order = { customer, currency: 'USD', items };
  const subscription = await post('/subscriptions/create', order, `subscription-${n}`);
  await post(`/test_helpers/subscriptions/${subscription.id}/authorize`, USDT);
}

interface Page {
  data: Record<string, unknown>[];
  has_more: boolean;
}

function call({ path }: Operation, query: Record<string, string>, headers: Record<string, string> = {}) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => place[name] ?? `{${name}}`);
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
  return send(`${service.baseUrl}${filled}${search}`, merchant, { headers });
}

async function read(list: Operation, query: Record<string, string>): Promise<Page> {
  const { status, text } = await call(list, query);
  expect(status, `${list.operationId} ${JSON.stringify(query)} ${text}`).toBe(200);
  return JSON.parse(text);
}

const idOf = (item: Record<string, unknown>) =>
  String(item.id ?? item.item_id ?? item.batch_id ?? item.refund_id);

test('every list takes each of its own ids back, and one by one shows what it shows at once', async () => {
  expect(lists.length).toBeGreaterThan(9);
  for (const list of lists) {
    const whole = await read(list, { limit: '100' });
    const ids = whole.data.map(idOf);
    expect(new Set(ids).size, `${list.operationId} has three of them`).toBeGreaterThan(2);
    for (const [at, id] of ids.slice(0, 5).entries()) {
      const next = await read(list, { limit: '1', starting_after: id });
      expect(next.data.map(idOf), `${list.operationId} after ${id}`).toEqual(ids.slice(at + 1, at + 2));
      const isLast = at + 1 >= ids.length;
      expect(next.data.length === 0, list.operationId).toBe(isLast);
    }
  }
}, 120_000);

test('a list that is turned round shows the same ones: what comes next in one order came before in the other', async () => {
  const turned = lists.filter(({ parameters }) => parameters.some(({ name }) => name === 'sort'));
  expect(lists.length - turned.length, 'items of a batch and simulated transfers').toBe(2);
  const sort = 'created';
  for (const list of turned) {
    // Only later ones come meanwhile.
    const ids = (await read(list, { limit: '100', sort })).data.map(idOf);
    for (const [at, id] of ids.slice(1, 4).entries()) {
      const around = [
        await read(list, { limit: '1', starting_after: id, sort: '-created' }),
        await read(list, { limit: '1', starting_after: id, sort }),
      ].flatMap(({ data }) => data.map(idOf));
      expect([list.operationId, around]).toEqual([list.operationId, [ids[at], ...ids.slice(at + 2, at + 3)]]);
    }
    const { text } = await call(list, { sort }, CSV);
    const places = ids.slice(0, 3).map((id) => text.indexOf(id));
    expect([list.operationId, places]).toEqual([list.operationId, places.toSorted((a, b) => a - b)]);
    expect(places, list.operationId).not.toContain(-1);
    const { status } = await call(list, { sort: 'amount' });
    expect([list.operationId, status]).toEqual([list.operationId, 400]);
  }
}, 120_000);

test('subscriptions, which have no cursor, are turned round and limited to a time', async () => {
  const list = api.operations.find(({ operationId }) => operationId === 'listSubscriptions');
  if (list === undefined) throw new Error('there is no list of subscriptions');
  const newest = (await read(list, {})).data;
  const oldest = (await read(list, { sort: 'created' })).data;
  expect(oldest.map(idOf)).toEqual(newest.map(idOf).toReversed());
  expect((await read(list, { sort: 'created', limit: '1' })).data.map(idOf)).toEqual([oldest[0]?.id]);
  const created = Number(newest[0]?.created);
  const since = await read(list, { 'created[gte]': String(created) });
  expect(since.data.length).toBeGreaterThan(0);
  expect(since.data.every((one) => one.created === created)).toBe(true);
  expect((await read(list, { 'created[gte]': String(created + 1) })).data).toEqual([]);
  const { status, json } = await call(list, { 'created[gte]': '20', 'created[lt]': '10' });
  expect([status, json]).toMatchObject([400, { error: { param: 'created[lt]' } }]);
});

test('what a list shows of other resources is taken back by its filters', async () => {
  for (const list of lists) {
    const { data } = await read(list, { limit: '100' });
    const filters = list.parameters.filter(
      ({ in: where, schema }) => where === 'query' && schema.type === 'string',
    );
    for (const { name } of filters) {
      const shown = data
        .map((row) => row[name])
        .filter((value) => typeof value === 'string')
        .find((value) => value !== '');
      if (shown === undefined) continue;
      const found = await read(list, { limit: '100', [name]: shown });
      expect(found.data.length, `${list.operationId} by ${name} ${shown}`).toBeGreaterThan(0);
    }
  }
}, 120_000);

test('a filter shows what has its value, and nothing else', async () => {
  for (const list of lists) {
    const { data } = await read(list, { limit: '100' });
    for (const { name } of list.parameters.filter(({ in: where }) => where === 'query')) {
      const values = new Set(data.map((row) => row[name]).filter((value) => typeof value === 'string'));
      for (const value of values) {
        const found = await read(list, { limit: '100', [name]: String(value) });
        const others = found.data.filter((row) => row[name] !== value);
        expect([list.operationId, name, value, others]).toEqual([list.operationId, name, value, []]);
      }
    }
  }
}, 120_000);

const listOf = (operationId: string): Operation => {
  const list = lists.find((one) => one.operationId === operationId);
  if (list === undefined) throw new Error(`there is no list ${operationId}`);
  return list;
};

test('payments are found by order, address, transaction and time; refunds by transaction and address', async () => {
  const [payments, sessions, refunds] = ['listPayments', 'listCheckoutSessions', 'listRefunds'].map(listOf);
  if (payments === undefined || sessions === undefined || refunds === undefined) throw new Error('no lists');
  const [session] = (await read(sessions, { order_id: 'order-2' })).data;
  expect(session).toMatchObject({ order_id: 'order-2', customer: 'customer-2' });
  const found = await read(payments, { order_id: 'order-2' });
  expect(found.data.map(idOf)).toEqual([session?.payment_id]);
  const [payment] = found.data as { id: string; address: string; created: number; network: string }[];
  const [transfer] = (found.data[0]?.transactions ?? []) as { tx_id: string; index: number }[];
  if (payment === undefined || transfer === undefined) throw new Error('nothing was paid');
  const { created, address, network } = payment;
  for (const query of [
    { address },
    { address: address.toLowerCase(), network },
    { tx_id: transfer.tx_id },
    { tx_id: `${transfer.tx_id.toUpperCase().replace('0X', '0x')}:${transfer.index}`, network },
    { 'created[gte]': String(created), 'created[lt]': String(created + 1), order_id: 'order-2' },
  ] as Record<string, string>[])
    expect([query, (await read(payments, query)).data.map(idOf)]).toEqual([query, [payment.id]]);
  for (const query of [
    { address: 'nobody' },
    { tx_id: 'nothing' },
    { customer: 'nobody' },
    { order_id: 'none' },
    { 'created[lt]': '1' },
  ] as Record<string, string>[])
    expect([query, (await read(payments, query)).data]).toEqual([query, []]);
  const [refund] = (await read(refunds, {})).data as {
    refund_id: string;
    address: string;
    payment_id: string;
  }[];
  const byAddress = await read(refunds, { address: String(refund?.address).toLowerCase() });
  expect(byAddress.data.map(idOf)).toContain(refund?.refund_id);
  const ofPayment = await read(refunds, { payment_id: String(refund?.payment_id) });
  expect(ofPayment.data.map(idOf)).toContain(refund?.refund_id);
  expect(new Set(ofPayment.data.map((one) => one.payment_id))).toEqual(new Set([refund?.payment_id]));
  for (const payment_id of ['pay_nothing', 'nonsense'])
    expect((await read(refunds, { payment_id })).data).toEqual([]);
});

test('filters that contradict each other and cursors of other lists are 400 with their name', async () => {
  const paramOf = async (list: Operation, query: Record<string, string>) => {
    const { status, json } = await call(list, query);
    // Errors of payouts have a message alone, which begins with the name.
    const named = typeof json.message === 'string' ? /^\S+\]/.exec(json.message)?.[0] : undefined;
    return [status, (json.error as { param?: string } | undefined)?.param ?? named];
  };
  for (const list of lists.filter(({ parameters }) =>
    parameters.some(({ name }) => name === 'created[lt]'),
  )) {
    const wrongWayRound = { 'created[gte]': '20', 'created[lt]': '10' };
    expect([list.operationId, ...(await paramOf(list, wrongWayRound))]).toEqual([
      list.operationId,
      400,
      'created[lt]',
    ]);
    if (!list.parameters.some(({ name }) => name === 'store')) continue;
    expect([list.operationId, ...(await paramOf(list, { store: 'store_0' }))]).toEqual([
      list.operationId,
      403,
      undefined,
    ]);
    const own = await read(list, { store: encodeId('store', merchant.storeId) });
    expect(own.data.length, list.operationId).toBeGreaterThan(2);
  }
  const payments = listOf('listPayments');
  const [other] = (await read(payments, { customer: 'customer-1' })).data;
  const behind = { starting_after: String(other?.id) };
  expect(await paramOf(payments, behind)).toEqual([200, undefined]);
  expect(await paramOf(payments, { ...behind, customer: 'customer-2' })).toEqual([400, 'starting_after']);
  expect(await paramOf(payments, { ...behind, 'created[lt]': '1' })).toEqual([400, 'starting_after']);
  // What has left a list by a change goes on where it was.
  expect(await paramOf(payments, { ...behind, status: 'frozen' })).toEqual([200, undefined]);
  const shape = { network: 'spl', address: `0x${'1'.repeat(40)}` };
  expect(await paramOf(payments, shape)).toEqual([400, 'address']);
  expect(await paramOf(listOf('listRefunds'), { status: 'pending', tx_id: 'x' })).toEqual([400, 'tx_id']);
  for (const list of lists) {
    for (const foreign of lists.filter(({ operationId }) => operationId !== list.operationId)) {
      const [first] = (await read(foreign, { limit: '1' })).data;
      const asked = await call(list, { starting_after: first === undefined ? '' : idOf(first) });
      expect([list.operationId, foreign.operationId, asked.status]).toEqual([
        list.operationId,
        foreign.operationId,
        400,
      ]);
    }
  }
}, 120_000);

/** A reader of CSV as RFC 4180 has it. */
function cellsOf(line: string): string[] {
  const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)];
  return cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}

const CSV = { accept: 'text/csv' };

test('every list is CSV as well: all rows, the fields as headings, times in UTC, a count at the end', async () => {
  const all = [...lists, ...api.operations.filter(({ operationId }) => operationId === 'listSubscriptions')];
  for (const list of all) {
    const { data } = await read(list, { limit: '100' });
    const { status, headers, text } = await call(list, {}, CSV);
    expect([list.operationId, status]).toEqual([list.operationId, 200]);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(text.startsWith('\uFEFF')).toBe(false);
    const [heading = '', ...lines] = text.split('\r\n');
    expect(lines.at(-1)).toBe('');
    expect(lines.at(-2)).toBe(`# ${lines.length - 2} rows`);
    const names = cellsOf(heading);
    const rows = lines.slice(0, -2).map((line) => {
      const cells = cellsOf(line);
      expect([list.operationId, cells.length]).toEqual([list.operationId, names.length]);
      return Object.fromEntries(names.map((name, i) => [name, cells[i] ?? '']));
    });
    // Other rows come meanwhile: events, deliveries.
    const shown = new Map(rows.map((row) => [idOf(row), row]));
    for (const item of data) {
      const row = shown.get(idOf(item));
      if (row === undefined) throw new Error(`${list.operationId} leaves ${idOf(item)} out`);
      if (typeof item.created === 'number')
        expect(row.created_utc).toBe(
          new Date(item.created * 1000).toISOString().slice(0, 19).replace('T', ' '),
        );
      if (typeof item.amount === 'number') expect(row.amount).toBe(String(item.amount));
    }
  }
}, 120_000);

test('formulas of strangers are text in CSV, filters hold, refusals are JSON', async () => {
  const sessions = listOf('listCheckoutSessions');
  const { text } = await call(sessions, { order_id: 'order-2' }, CSV);
  expect(text).toContain("'=cmd|' /C calc'!A2");
  expect(text).not.toMatch(/(^|,)"?=/m);
  expect(text.endsWith('# 1 rows\r\n')).toBe(true);
  const limited = await call(sessions, { limit: '5' }, CSV);
  expect(limited.status).toBe(400);
  expect(limited.json).toMatchObject({ error: { param: 'limit' } });
  const lost = await call(sessions, { starting_after: 'cs_0' }, CSV);
  expect(lost.status).toBe(400);
  expect(lost.json).toMatchObject({ error: { param: 'starting_after' } });
});
