import { afterAll, beforeAll, expect, test } from 'vitest';
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
  const session = await post('/checkout/sessions/create', { amount: 5_000_000, currency: 'USDT', customer });
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

async function read({ path }: Operation, query: Record<string, string>): Promise<Page> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => place[name] ?? `{${name}}`);
  const { status, text } = await send(
    `${service.baseUrl}${filled}?${new URLSearchParams(query).toString()}`,
    merchant,
  );
  expect(status, `${filled} ${JSON.stringify(query)} ${text}`).toBe(200);
  return JSON.parse(text);
}

const idOf = (item: Record<string, unknown>) => String(item.id ?? item.item_id ?? item.batch_id);

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
