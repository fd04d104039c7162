import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { checkout } from '../checkout/requests.ts';
import { florinOf } from '../florin-command.ts';
import { expectError } from '../http/expect-error.ts';
import { caller } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newMerchant = () => service.createMerchant({ funds: 0n });

async function ofExternalId(merchant: TestMerchant, external_customer_id: string) {
  return (await merchant.sdk.customers.list({ external_customer_id }).page()).data;
}

test('a customer has the fields of the specification; fields without a value are absent', async () => {
  const merchant = await newMerchant();
  const bare = await merchant.sdk.customers.create({ external_customer_id: 'c-1' });
  expect(bare).toEqual({
    id: expect.stringMatching(/^cus_[0-9a-z]{26}$/),
    object: 'customer',
    merchant_id: expect.stringMatching(/^mer_/),
    external_customer_id: 'c-1',
    created: expect.any(Number),
  });
  const details = { email: 'ada@shop.example', name: 'Ada 🦊', phone: '+44 20 7946', description: 'First' };
  const changed = await merchant.sdk.customers.update(bare.id, details);
  expect(changed).toEqual({ ...bare, ...details });
  expect(await merchant.sdk.customers.update(bare.id, {})).toEqual(changed);
  expect(await merchant.sdk.customers.update(bare.id, { name: 'Ada' })).toEqual({ ...changed, name: 'Ada' });
  expect(await merchant.sdk.customers.retrieve(bare.id)).toEqual({ ...changed, name: 'Ada' });
});

test('the list is newest first, in pages; an unknown customer gives an empty list', async () => {
  const merchant = await newMerchant();
  const made = [];
  for (let n = 0; n < 5; n++)
    made.push(await merchant.sdk.customers.create({ external_customer_id: `c-${n}` }));
  const ids = made.map(({ id }) => id).reverse();
  const all = [];
  for await (const customer of merchant.sdk.customers.list({ limit: 2 })) all.push(customer.id);
  expect(all).toEqual(ids);
  const page = await merchant.sdk.customers.list({ limit: 2, starting_after: ids[1] ?? '' }).page();
  expect(page).toMatchObject({ object: 'list', has_more: true });
  expect(page.data.map(({ id }) => id)).toEqual(ids.slice(2, 4));
  expect(await ofExternalId(merchant, 'c-3')).toEqual([made[3]]);
  expect(await ofExternalId(merchant, 'C-3')).toEqual([]);
});

test('an id that exists, or begins like one of ours, is refused', async () => {
  const merchant = await newMerchant();
  const { post } = caller(service, merchant);
  await merchant.sdk.customers.create({ external_customer_id: 'c-1', name: 'Ada' });
  const wrong = [
    { external_customer_id: 'c-1' },
    { external_customer_id: 'cus_1' },
    { external_customer_id: '' },
    { external_customer_id: 'x'.repeat(129) },
  ];
  for (const body of wrong) {
    const param = 'external_customer_id';
    expectError(await post('/customers/create', body), '/api/v1/customers', {
      status: 400,
      code: 'invalid_request_error',
      param,
    });
  }
  expect(await ofExternalId(merchant, 'c-1')).toMatchObject([{ name: 'Ada' }]);
  expect((await merchant.sdk.customers.create({ external_customer_id: '🦊'.repeat(128) })).id).toMatch(
    /^cus_/,
  );
});

test('those with an e-mail address are listed, in whichever case, page by page, and of their merchant alone', async () => {
  const [merchant, other] = [await newMerchant(), await newMerchant()];
  const email = 'Ada@Shop.example';
  for (const [of, id, address] of [
    [merchant, 'c-1', email],
    [merchant, 'c-2', 'bob@shop.example'],
    [merchant, 'c-3', 'ada@shop.example'],
    [other, 'c-4', email],
  ] as const)
    await of.sdk.customers.create({ external_customer_id: id, email: address });
  const idsOf = async (query: { email: string; limit?: number; starting_after?: string }) =>
    (await merchant.sdk.customers.list(query).page()).data.map(({ external_customer_id: id }) => id);
  expect(await idsOf({ email: 'ADA@shop.example' })).toEqual(['c-3', 'c-1']);
  const [first] = (await merchant.sdk.customers.list({ email, limit: 1 }).page()).data;
  expect(await idsOf({ email, limit: 1, starting_after: first?.id ?? '' })).toEqual(['c-1']);
  expect(await idsOf({ email: '%' })).toEqual([]);
});

const UNSEEN = ['c\u200b', '\ufeffc', 'c\u00ad', 'a\u202eb', 'c\n', 'e\u0301', '\u212b', 'c\u2028'];

test('a new id with invisible characters, or not in NFC, is refused by every call that would create a customer', async () => {
  const merchant = await newMerchant();
  const { post, call } = caller(service, merchant);
  const price = { currency: 'USD', product: 'p', unit_amount: 1, recurring: { interval: 'month' } };
  for (const customer of UNSEEN) {
    const doors = [
      await post('/customers/create', { external_customer_id: customer }),
      await post('/checkout/sessions/create', { amount: 1, currency: 'USD', customer }),
      await post(
        '/subscriptions/create',
        { customer, currency: 'USD', items: [{ price_data: price }] },
        { 'idempotency-key': `k-${UNSEEN.indexOf(customer)}` },
      ),
    ];
    const params = doors.map(({ status, json }) => [status, (json.error as { param?: string })?.param]);
    expect([customer, ...params]).toEqual([
      customer,
      [400, 'external_customer_id'],
      [400, 'customer'],
      [400, 'customer'],
    ]);
    const path = `/customers?external_customer_id=${encodeURIComponent(customer)}`;
    expect((await call(path)).json).toMatchObject({ data: [] });
  }
  expect((await merchant.sdk.customers.list().page()).data).toEqual([]);
});

test('a customer whose id is from before that rule is read, found, changed and charged by it, byte for byte', async () => {
  const merchant = await newMerchant();
  const { open } = checkout(service, merchant);
  for (const customer of UNSEEN) {
    const row = { merchant_id: merchant.merchantId, customer_id: newId(), external_customer_id: customer };
    await service.app.db
      .insertInto('customer')
      .values({ ...row, created_at: 0 })
      .execute();
    const session = await open({ customer, customer_email: 'ada@shop.example' });
    expect(session.customer).toBe(customer);
    const [found] = await ofExternalId(merchant, customer);
    expect(found).toMatchObject({ external_customer_id: customer, email: 'ada@shop.example' });
    expect(await merchant.sdk.customers.update(found?.id ?? '', { name: 'Ada' })).toMatchObject({
      external_customer_id: customer,
      name: 'Ada',
    });
  }
});

test('C4: two merchants with the same external id have two customers, and neither sees the other', async () => {
  const [ann, bob] = [await newMerchant(), await newMerchant()];
  const ofAnn = await ann.sdk.customers.create({ external_customer_id: 'same', name: 'of Ann' });
  const ofBob = await bob.sdk.customers.create({ external_customer_id: 'same', name: 'of Bob' });
  expect(ofAnn.id).not.toBe(ofBob.id);
  await checkout(service, ann).open({ customer: 'same', customer_email: 'ann@shop.example' });
  expect(await ofExternalId(bob, 'same')).toEqual([ofBob]);
  expect(await ofExternalId(ann, 'same')).toEqual([{ ...ofAnn, email: 'ann@shop.example' }]);
  await expect(bob.sdk.customers.retrieve(ofAnn.id)).rejects.toMatchObject({ status: 404 });
  await expect(bob.sdk.customers.update(ofAnn.id, { name: 'x' })).rejects.toMatchObject({ status: 404 });
  expect((await bob.sdk.customers.list().page()).data).toEqual([ofBob]);
});

test('a session creates the customer it names, fills empty fields and overwrites none', async () => {
  const merchant = await newMerchant();
  const { open } = checkout(service, merchant);
  await open({ customer: 'c-9' });
  const [made] = await ofExternalId(merchant, 'c-9');
  expect(made).toMatchObject({ external_customer_id: 'c-9' });
  expect(made).not.toHaveProperty('email');
  await open({ customer: 'c-9', customer_email: 'first@shop.example' });
  await open({ customer: 'c-9', customer_email: 'second@shop.example' });
  expect(await ofExternalId(merchant, 'c-9')).toEqual([{ ...made, email: 'first@shop.example' }]);
  await open({ customer_email: 'nobody@shop.example' });
  expect((await merchant.sdk.customers.list().page()).data).toHaveLength(1);
});

test('a refused session creates no customer', async () => {
  const merchant = await newMerchant();
  const { post } = caller(service, merchant);
  const body = { amount: 1, currency: 'XAF', customer: 'ghost', success_url: 'ftp://x' };
  expect((await post('/checkout/sessions/create', body)).status).toBe(400);
  expect((await post('/checkout/sessions/create', { ...body, customer: 'cus_1' })).status).toBe(400);
  expect((await merchant.sdk.customers.list().page()).data).toEqual([]);
});

test('many concurrent requests create one customer', async () => {
  const merchant = await newMerchant();
  const { open, post } = checkout(service, merchant);
  const sessions = Array.from({ length: 12 }, () =>
    open({ customer: 'busy', customer_email: 'a@shop.example' }),
  );
  const creates = Array.from({ length: 12 }, () =>
    post('/customers/create', { external_customer_id: 'new' }),
  );
  await Promise.all(sessions);
  const statuses = (await Promise.all(creates)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 400)).toHaveLength(11);
  expect(await ofExternalId(merchant, 'busy')).toMatchObject([{ email: 'a@shop.example' }]);
  expect((await merchant.sdk.customers.list().page()).data).toHaveLength(2);
});

test('C1: writing needs the scope write, reading needs read', async () => {
  const reader = caller(service, await service.createMerchant({ scopes: ['read'] }));
  const writer = caller(service, await service.createMerchant({ scopes: ['write'] }));
  for (const path of ['/customers', '/customers/x']) expect((await writer.call(path)).status).toBe(403);
  const body = { external_customer_id: 'c' };
  expect((await reader.post('/customers/create', body)).status).toBe(403);
  expect((await reader.post('/customers/x/update', {})).status).toBe(403);
  expect((await writer.post('/customers/create', body)).status).toBe(200);
});

test('florin customers creates, shows by either id, lists and updates', async () => {
  const merchant = await newMerchant();
  const run = (...words: string[]) => florinOf(service, merchant).run('customers', ...words);
  const made = JSON.parse((await run('create', 'c-1', '--name', 'Ada', '--json')).stdout);
  expect(made).toMatchObject({ external_customer_id: 'c-1', name: 'Ada' });
  await run('update', made.id, '--email', 'ada@shop.example');
  const shown = await run('show', 'c-1');
  expect(shown.stdout).toMatch(/email\s+ada@shop\.example\n/);
  expect(JSON.parse((await run('show', made.id, '--json')).stdout)).toEqual({
    ...made,
    email: 'ada@shop.example',
  });
  expect((await run('list')).stdout).toContain(made.id);
  expect((await run('show', 'c-2')).code).toBe(1);
  expect((await run('update', made.id)).code).toBe(2);
});
