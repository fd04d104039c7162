import { SUBSCRIPTION_STATUSES } from '@florin/contract/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectError } from '../http/expect-error.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { addInvoice, addPaymentMethod, addSubscription } from './rows.ts';

const PATH = '/api/v1/subscriptions';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const read = (path: string, as: TestMerchant = merchant) => send(`${service.baseUrl}${path}`, as);

async function idsOf(path: string, as: TestMerchant): Promise<string[]> {
  const { status, json } = await read(path, as);
  expect(status).toBe(200);
  return (json.data as { id: string }[]).map(({ id }) => id);
}

test('a subscription as the specification draws it: what has no value is absent, never null', async () => {
  const { row, item, id } = await addSubscription(service, merchant, { status: 'incomplete' });
  const { json, text } = await read(`${PATH}/${id}`);
  expect(json).toEqual({
    id,
    object: 'subscription',
    customer: 'customer-1',
    store_id: encodeId('store', row.store_id),
    currency: 'USD',
    status: 'incomplete',
    items: [
      {
        id: encodeId('subscriptionItem', item.id),
        price_data: {
          currency: 'USD',
          product: 'Gold',
          unit_amount: 1_999,
          recurring: { interval: 'month', interval_count: 1 },
        },
        quantity: 2,
        metadata: {},
      },
    ],
    billing_cycle_anchor: row.billing_cycle_anchor,
    current_period_start: Number(row.current_period_start),
    current_period_end: Number(row.current_period_end),
    metadata: {},
    created: row.created_at,
  });
  expect(text).not.toContain('null');
  expect(text).not.toContain('checkout_url');
});

test('a subscription with everything', async () => {
  const paymentMethodId = newId();
  const { row, id } = await addSubscription(service, merchant, {
    status: 'canceled',
    description: 'Membership',
    payment_method_id: paymentMethodId,
    current_period_start: 10,
    current_period_end: 20,
    cancel_at: 15,
    canceled_at: 16,
    metadata: { plan: 'gold', seats: 3, trial: false },
    items: JSON.stringify([
      { id: newId(), product: 'Big', unit_amount: String(2 ** 53 - 1), quantity: 1, metadata: { a: 'b' } },
    ]),
  });
  const invoice = await addInvoice(service, row);
  await service.app.db
    .updateTable('subscription')
    .set({ latest_invoice_id: invoice.row.invoice_id })
    .where('merchant_id', '=', row.merchant_id)
    .where('subscription_id', '=', row.subscription_id)
    .execute();
  const { json } = await read(`${PATH}/${id}`);
  expect(json).toMatchObject({
    description: 'Membership',
    payment_method_id: encodeId('paymentMethod', paymentMethodId),
    current_period_start: 10,
    current_period_end: 20,
    cancel_at: 15,
    canceled_at: 16,
    latest_invoice: invoice.id,
    metadata: { plan: 'gold', seats: 3, trial: false },
    items: [{ price_data: { unit_amount: 2 ** 53 - 1 }, metadata: { a: 'b' } }],
  });
});

test('requested fields are expanded, in either syntax; the rest stays an id', async () => {
  const { row, id } = await addSubscription(service, merchant, { customer: 'who-expands' });
  const invoice = await addInvoice(service, row);
  await service.app.db
    .updateTable('subscription')
    .set({ latest_invoice_id: invoice.row.invoice_id })
    .where('merchant_id', '=', row.merchant_id)
    .where('subscription_id', '=', row.subscription_id)
    .execute();
  const plain = (await read(`${PATH}/${id}`)).json;
  const latest_invoice_object = (await read(`/api/v1/invoices/${invoice.id}`)).json;
  const customer_object = expect.objectContaining({
    id: encodeId('customer', row.customer_id),
    external_customer_id: 'who-expands',
  });
  const both = { ...plain, latest_invoice_object, customer_object };
  const asked: [query: string, expected: object][] = [
    ['?expand[]=latest_invoice', { ...plain, latest_invoice_object }],
    ['?expand=customer', { ...plain, customer_object }],
    ['?expand[]=latest_invoice&expand[]=customer', both],
    ['?expand%5B%5D=latest_invoice&expand[]=customer&expand[]=customer', both],
    ['?expand=latest_invoice,customer', both],
    ['?expand=latest_invoice%2Ccustomer', both],
    ['?expand=customer&expand[]=latest_invoice', both],
    // It has no payment method: nothing to show.
    ['?expand=payment_method', plain],
  ];
  for (const [query, expected] of asked) expect((await read(`${PATH}/${id}${query}`)).json).toEqual(expected);
});

test('a payment method is expanded too, and the newest active one is the default of the customer', async () => {
  const { row } = await addSubscription(service, merchant, { customer: 'who-pays' });
  const methods = [];
  for (const status of ['active', 'active', 'inactive', 'revoked'] as const)
    methods.push(await addPaymentMethod(service, row, { status, created_at: 100 + methods.length }));
  const [older, newer] = methods;
  if (older === undefined || newer === undefined) throw new Error('four methods');
  const { id } = await addSubscription(service, merchant, {
    customer: 'who-pays',
    payment_method_id: older.row.payment_method_id,
  });
  const { json } = await read(`${PATH}/${id}?expand=payment_method,customer`);
  expect(json.payment_method_object).toEqual({
    id: older.id,
    object: 'payment_method',
    customer: encodeId('customer', row.customer_id),
    merchant_id: encodeId('merchant', row.merchant_id),
    type: 'wallet_mandate',
    currency: 'USDT',
    chain_type: 2,
    status: 'active',
    mandate_id: older.row.mandate_id,
    metadata: {},
    created: 100,
  });
  expect(json.customer_object).toMatchObject({ default_payment_method: newer.id });
  const customer = encodeId('customer', row.customer_id);
  const retrieved = (await read(`/api/v1/customers/${customer}`)).json;
  expect(retrieved).toEqual(json.customer_object);
  const listed = (await read('/api/v1/customers?external_customer_id=who-pays')).json.data;
  expect(listed).toEqual([retrieved]);
  const update = { method: 'POST', body: '{"name":"Ada"}' };
  const changed = await send(`${service.baseUrl}/api/v1/customers/${customer}/update`, merchant, update);
  expect(changed.json).toEqual({ ...retrieved, name: 'Ada' });
});

test('an expansion that is none is 400 with its param', async () => {
  const { id } = await addSubscription(service, merchant);
  const wrong: [query: string, param: string][] = [
    ['expand[]=items', 'expand[]'],
    ['expand[]=customer&expand[]=', 'expand[]'],
    ['expand[]=customer&expand[]=Customer', 'expand[]'],
    ['expand=', 'expand'],
    ['expand=customer,', 'expand'],
    ['expand=customer, latest_invoice', 'expand'],
    ['expand=customer&expand=customer', 'expand'],
    ['expand[0]=customer', 'expand[0]'],
    ['limit=1', 'limit'],
  ];
  for (const [query, param] of wrong) {
    const answer = await read(`${PATH}/${id}?${query}`);
    expectError(answer, PATH, { status: 400, code: 'invalid_request_error', param });
  }
});

test('the list: newest first, by customer and status, of the store alone', async () => {
  const own = await service.createMerchant({ funds: 0n });
  const made: { id: string; customer: string; status: string }[] = [];
  let created = 1_790_000_000;
  for (const customer of ['a', 'b']) {
    for (const status of SUBSCRIPTION_STATUSES) {
      const canceled = status === 'canceled' ? { canceled_at: created } : {};
      // Two at each second: their ids decide.
      const given = { customer, status, created_at: Math.floor(created / 2), ...canceled };
      made.unshift({ ...(await addSubscription(service, own, given)), customer, status });
      created += 1;
    }
  }
  const ids = (fits: (one: { customer: string; status: string }) => boolean) =>
    made.filter(fits).map(({ id }) => id);
  expect(await idsOf(`${PATH}?limit=100`, own)).toEqual(ids(() => true));
  expect(await idsOf(`${PATH}?customer=b`, own)).toEqual(ids(({ customer }) => customer === 'b'));
  for (const status of SUBSCRIPTION_STATUSES) {
    expect(await idsOf(`${PATH}?status=${status}`, own)).toEqual(ids((one) => one.status === status));
    const one = ids((each) => each.status === status && each.customer === 'a');
    expect(await idsOf(`${PATH}?status=${status}&customer=a`, own)).toEqual(one);
  }
  const sibling = await service.addStore(own);
  await addSubscription(service, sibling, { customer: 'a' });
  expect(await idsOf(`${PATH}?limit=100`, own)).toHaveLength(made.length);
  expect(await idsOf(PATH, sibling)).toHaveLength(1);
  expect(await idsOf(PATH, await service.createMerchant({ funds: 0n }))).toEqual([]);
});

test('has_more is true when as many come as the limit says, ten by default; url is that of the request', async () => {
  const own = await service.createMerchant({ funds: 0n });
  for (let i = 0; i < 11; i++) await addSubscription(service, own);
  const expected: [query: string, count: number, hasMore: boolean][] = [
    ['', 10, true],
    ['?limit=1', 1, true],
    ['?limit=11', 11, true],
    ['?limit=12', 11, false],
    ['?limit=100&status=active', 11, false],
    ['?customer=nobody', 0, false],
    ['?customer=cus_00000000000000000000000000', 0, false],
    ['?customer=a%20b%2Fc', 0, false],
  ];
  for (const [query, count, hasMore] of expected) {
    const { json } = await read(`${PATH}${query}`, own);
    const { data, ...rest } = json as { data: unknown[] };
    expect([query, data.length, rest]).toEqual([
      query,
      count,
      { object: 'list', has_more: hasMore, url: `${PATH}${query}` },
    ]);
  }
});

test('a parameter that would do nothing, or a value that means nothing, is 400', async () => {
  const wrong: [query: string, param: string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=', 'limit'],
    ['limit=10.5', 'limit'],
    ['limit=%2B5', 'limit'],
    ['limit=1&limit=1', 'limit'],
    ['status=open', 'status'],
    ['status=Active', 'status'],
    ['status=', 'status'],
    ['customer=', 'customer'],
    [`customer=${'x'.repeat(129)}`, 'customer'],
    ['starting_after=sub_00000000000000000000000000', 'starting_after'],
    ['ending_before=x', 'ending_before'],
    ['expand[]=customer', 'expand[]'],
    ['store_id=x', 'store_id'],
  ];
  for (const [query, param] of wrong) {
    const answer = await read(`${PATH}?${query}`);
    expectError(answer, PATH, { status: 400, code: 'invalid_request_error', param });
  }
});

test('C2: another store of the merchant gets 403, another merchant 404, as for what is unknown or malformed', async () => {
  const { row, id } = await addSubscription(service, merchant);
  const invoice = await addInvoice(service, row);
  const sibling = await service.addStore(merchant);
  const stranger = await service.createMerchant({ funds: 0n });
  for (const path of [`${PATH}/${id}`, `/api/v1/invoices/${invoice.id}`]) {
    expect((await read(path)).status).toBe(200);
    expectError(await read(path, sibling), path, { status: 403, code: null });
    expectError(await read(path, stranger), path, { status: 404, code: 'resource_not_found' });
    expectError(await read(`${path}x`), path, { status: 404, code: 'resource_not_found' });
  }
});

test('C4: two merchants may have the same customer id; each lists its own', async () => {
  const [one, two] = [
    await service.createMerchant({ funds: 0n }),
    await service.createMerchant({ funds: 0n }),
  ];
  const own = await addSubscription(service, one, { customer: 'same' });
  const other = await addSubscription(service, two, { customer: 'same' });
  expect(await idsOf(`${PATH}?customer=same`, one)).toEqual([own.id]);
  expect(await idsOf(`${PATH}?customer=same`, two)).toEqual([other.id]);
});
