import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectError } from '../http/expect-error.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { addInvoice, addSubscription } from './rows.ts';

const PATH = '/api/v1/invoices';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const read = (path: string, as: TestMerchant = merchant) => send(`${service.baseUrl}${path}`, as);

async function pageOf(query: string, as: TestMerchant = merchant) {
  const { status, json } = await read(`${PATH}${query}`, as);
  expect(status).toBe(200);
  const { data, ...rest } = json as { data: { id: string }[]; has_more: boolean };
  return { ...rest, ids: data.map(({ id }) => id) };
}

test('an invoice as the specification draws it: open, paid, and what has no value is absent', async () => {
  const { row, id: subscription } = await addSubscription(service, merchant);
  const open = await addInvoice(service, row, { period_start: 1_000, period_end: 2_000 });
  const { json, text } = await read(`${PATH}/${open.id}`);
  const shown = {
    id: open.id,
    object: 'invoice',
    subscription_id: subscription,
    customer: encodeId('customer', row.customer_id),
    amount_due: 3_998,
    amount_paid: 0,
    amount_remaining: 3_998,
    currency: 'USD',
    status: 'open',
    payment_status: 'pending',
    billing_reason: 'subscription_cycle',
    frequency: 'Monthly',
    recurring_interval: 'month',
    recurring_interval_count: 1,
    period_start: 1_000,
    period_end: 2_000,
    due_date: 1_000,
    created: 1_000,
  };
  expect(json).toEqual(shown);
  expect(text).not.toContain('null');
  const [session, charge] = [newId(), newId()];
  const paid = await addInvoice(service, row, {
    status: 'paid',
    payment_status: 'completed',
    paid_at: 1_500,
    charge_payment_id: charge,
    period_start: 3_000,
  });
  expect((await read(`${PATH}/${paid.id}`)).json).toMatchObject({
    amount_paid: 3_998,
    amount_remaining: 0,
    paid_at: 1_500,
    payment_id: encodeId('payment', charge),
  });
  // Its page stands for the payment, also after a charge.
  const paged = await addInvoice(service, row, {
    session_id: session,
    charge_payment_id: charge,
    period_start: 4_000,
  });
  expect((await read(`${PATH}/${paged.id}`)).json.payment_id).toBe(encodeId('checkoutSession', session));
});

test('the interval is written in words', async () => {
  const words = { day: 'Daily', week: 'Weekly', month: 'Monthly', year: 'Yearly' } as const;
  for (const [interval, frequency] of Object.entries(words) as [keyof typeof words, string][]) {
    const { row } = await addSubscription(service, merchant, { interval });
    const { id } = await addInvoice(service, row);
    expect((await read(`${PATH}/${id}`)).json).toMatchObject({ frequency, recurring_interval: interval });
  }
});

test('the list: newest first, by customer in either form, subscription and status, page by page', async () => {
  const own = await service.createMerchant({ funds: 0n });
  const made: { id: string; customer: string; subscription: string; status: string; cus: string }[] = [];
  for (const customer of ['a', 'b']) {
    const { row, id: subscription } = await addSubscription(service, own, { customer });
    for (let n = 0; n < 6; n++) {
      const isPaid = n % 2 === 0;
      const given = isPaid
        ? { status: 'paid' as const, payment_status: 'completed' as const, paid_at: 1 }
        : {};
      const { id } = await addInvoice(service, row, { ...given, period_start: n * 10, created_at: 7 });
      const cus = encodeId('customer', row.customer_id);
      made.unshift({ id, customer, subscription, status: isPaid ? 'paid' : 'open', cus });
    }
  }
  const ids = (fits: (one: (typeof made)[number]) => boolean) => made.filter(fits).map(({ id }) => id);
  expect((await pageOf('?limit=12', own)).ids).toEqual(ids(() => true));
  const { cus, subscription } = made.find(({ customer }) => customer === 'a') ?? {
    cus: '',
    subscription: '',
  };
  const ofA = ids(({ customer }) => customer === 'a');
  expect((await pageOf('?customer=a', own)).ids).toEqual(ofA);
  expect((await pageOf(`?customer=${cus}`, own)).ids).toEqual(ofA);
  expect((await pageOf(`?subscription=${subscription}`, own)).ids).toEqual(ofA);
  const paidOfA = ids((one) => one.customer === 'a' && one.status === 'paid');
  for (const query of [
    '?customer=a&status=paid',
    `?customer=${cus}&subscription=${subscription}&status=paid`,
  ])
    expect((await pageOf(query, own)).ids).toEqual(paidOfA);
  expect((await pageOf(`?customer=b&subscription=${subscription}`, own)).ids).toEqual([]);
  expect((await pageOf('?created[gte]=7&created[lt]=8&limit=12', own)).ids).toEqual(ids(() => true));
  expect((await pageOf('?customer=a&created[gte]=7&created[lt]=8', own)).ids).toEqual(ofA);
  for (const none of ['?created[lt]=7', '?created[gte]=8', '?customer=a&status=paid&created[gte]=8'])
    expect((await pageOf(none, own)).ids).toEqual([]);
  expect((await pageOf('?status=open', own)).ids).toEqual(ids(({ status }) => status === 'open'));
  // Page by page, the last one full.
  const all: string[] = [];
  for (let hasMore = true; hasMore; ) {
    const after = all.length === 0 ? '' : `&starting_after=${all.at(-1)}`;
    const page = await pageOf(`?limit=4${after}`, own);
    all.push(...page.ids);
    hasMore = page.has_more;
  }
  expect(all).toEqual(ids(() => true));
});

test('who or what is unknown has no invoices; a cursor of another list is 400', async () => {
  const { row, id: subscription } = await addSubscription(service, merchant);
  const { id } = await addInvoice(service, row, { period_start: 5 });
  const stranger = await service.createMerchant({ funds: 0n });
  const cus = encodeId('customer', row.customer_id);
  for (const query of [
    '?customer=nobody',
    '?customer=cus_1',
    '?customer=cus_00000000000000000000000000',
    '?subscription=sub_00000000000000000000000000',
    '?subscription=x',
  ])
    expect((await pageOf(query)).ids).toEqual([]);
  expect((await pageOf(`?customer=${cus}`, stranger)).ids).toEqual([]);
  expect((await pageOf(`?subscription=${subscription}`, stranger)).ids).toEqual([]);
  expect((await pageOf(`?subscription=${subscription}`, await service.addStore(merchant))).ids).toEqual([]);
  const wrong: [query: string, param: string][] = [
    ['starting_after=in_00000000000000000000000000', 'starting_after'],
    [`starting_after=${subscription}`, 'starting_after'],
    ['status=draft', 'status'],
    ['customer=', 'customer'],
    ['limit=0', 'limit'],
    ['expand[]=subscription', 'expand[]'],
  ];
  for (const [query, param] of wrong) {
    const answer = await read(`${PATH}?${query}`);
    expectError(answer, PATH, { status: 400, code: 'invalid_request_error', param });
  }
  const other = await addSubscription(service, merchant, { customer: 'somebody else' });
  for (const query of [
    `subscription=${other.id}`,
    `customer=${encodeId('customer', other.row.customer_id)}`,
  ]) {
    const answer = await read(`${PATH}?${query}&starting_after=${id}`);
    expectError(answer, PATH, { status: 400, code: 'invalid_request_error', param: 'starting_after' });
  }
  const foreign = await read(`${PATH}?starting_after=${id}`, stranger);
  expectError(foreign, PATH, { status: 400, param: 'starting_after' });
});
