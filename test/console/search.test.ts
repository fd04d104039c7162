import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Person, signIn } from './people.ts';

let service: TestService;
let merchant: TestMerchant;
let support: Person;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  support = await signIn(service, merchant, 'support');
});
afterAll(() => service.stop());

const pathOf = ({ merchantId, storeId }: Pick<TestMerchant, 'merchantId' | 'storeId'>) =>
  `/console/api/merchants/${encodeId('merchant', merchantId)}/stores/${encodeId('store', storeId)}/search`;

async function find(text: string, of = merchant): Promise<string[]> {
  const { status, text: answer } = await support.call(`${pathOf(of)}?q=${encodeURIComponent(text)}`);
  if (status !== 200) return [String(status)];
  const { data }: { data: { kind: string; id: string }[] } = JSON.parse(answer);
  return data.map(({ kind, id }) => `${kind} ${id}`);
}

test('a payment and its refund are found by each of their names, and by the beginning of an id', async () => {
  const session = await merchant.sdk.checkout.sessions.create({
    amount: 1_250n,
    currency: 'USD',
    order_id: 'in_2077',
    customer: 'cust-9',
    customer_email: 'Ada.Lovelace@example.com',
  });
  await merchant.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const isPaid = async () => (await merchant.sdk.payments.retrieve(session.payment_id)).status;
  await expect.poll(isPaid, { timeout: 20_000 }).toBe('completed');
  const payment = await merchant.sdk.payments.retrieve(session.payment_id);
  const [transaction] = payment.transactions;
  const refund_id = 'R-12';
  await merchant.sdk.refunds.create({ payment_id: payment.id, refund_id, reason: 'a scratch' });
  const one = [`payment ${payment.id}`];
  const names = ['in_2077', payment.id, payment.id.slice(0, 12), session.id, ' in_2077 '];
  const { rows } = await sql<{ sender: string }>`
    select sender from payment_transaction where merchant_id = ${merchant.merchantId}`.execute(
    service.app.db,
  );
  const ofChain = [transaction?.tx_id ?? '', transaction?.address ?? '', rows[0]?.sender ?? ''];
  for (const name of [...names, ...ofChain]) expect(await find(name), name).toEqual(one);
  for (const typed of ['12.50', '12.5 usd', '12.50 USD'])
    expect(await find(typed), typed).toEqual(expect.arrayContaining(one));
  for (const typed of ['12.50 USDT', '12.51', '12.5 EUR']) expect(await find(typed), typed).toEqual([]);
  expect(await find('ADA.lovelace@example.com')).toEqual(expect.arrayContaining(one));
  expect(await find('cust-9')).toEqual([...one, expect.stringMatching(/^customer cus_/)]);
  expect(await find(refund_id)).toEqual([`refund ${refund_id}`]);
  expect(await find('\0')).toEqual(['400']);
  for (const name of ['in_2078', 'pay_', ' ', '%', `pay_${'0'.repeat(26)}`, "'", 'in_207'])
    expect(await find(name), name).toEqual([]);
});

test('an order whose name is also that of a customer stands before ten newer payments of the customer', async () => {
  const order = { currency: 'USD', amount: 100n };
  const named = await merchant.sdk.checkout.sessions.create({ ...order, order_id: 'c1042' });
  const many = Array.from({ length: 11 }, () =>
    merchant.sdk.checkout.sessions.create({ ...order, customer: 'c1042' }),
  );
  await Promise.all(many);
  expect((await find('c1042'))[0]).toBe(`payment ${named.payment_id}`);
});

test('an order whose name is an amount stands before ten newer payments of that amount', async () => {
  const order = { currency: 'USD' };
  const named = await merchant.sdk.checkout.sessions.create({ ...order, amount: 100n, order_id: '7321' });
  const many = Array.from({ length: 11 }, () =>
    merchant.sdk.checkout.sessions.create({ ...order, amount: 732_100n }),
  );
  await Promise.all(many);
  const found = await find('7321');
  expect([found[0], found.length]).toEqual([`payment ${named.payment_id}`, 10]);
});

test('a kind that takes too long to look through does not keep the others from being found', async () => {
  const name = 'waits-for-nobody';
  const { payment_id } = await merchant.sdk.checkout.sessions.create({
    amount: 100n,
    currency: 'USD',
    order_id: name,
  });
  await service.app.db.transaction().execute(async (tx) => {
    await sql`lock table refund in access exclusive mode`.execute(tx);
    const { text } = await support.call(`${pathOf(merchant)}?q=${name}`);
    expect(JSON.parse(text)).toMatchObject({
      data: [{ kind: 'payment', id: payment_id }],
      cut: ['refund'],
    });
  });
});

test('a batch is found by its key, an item and the transaction that paid it; other stores are not looked at', async () => {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const key = randomUUID();
  const { batch_id } = await merchant.sdk.payouts.create(
    { currency: 'USDT', items: [{ network: 'erc20', address: erc20.succeed, amount: '3.21' }] },
    { idempotencyKey: key },
  );
  await merchant.sdk.payouts.submit(batch_id);
  const items = async () => (await merchant.sdk.payouts.items(batch_id)).data;
  await expect.poll(async () => (await items())[0]?.status, { timeout: 20_000 }).toBe('succeeded');
  const [item] = await items();
  const { total_amount: total } = await merchant.sdk.payouts.retrieve(batch_id);
  const amounts = ['3.21', '3.21 USDT', `${total} USDT`];
  for (const typed of ['3.21 USDC', '3.22']) expect(await find(typed), typed).toEqual([]);
  for (const name of [
    key,
    batch_id,
    batch_id.slice(0, 14),
    item?.item_id ?? '',
    item?.tx_id ?? '',
    erc20.succeed,
    erc20.succeed.toLowerCase(),
    ...amounts,
  ])
    expect(await find(name), name).toEqual([`payout ${batch_id}`]);
  const other = await service.createMerchant();
  expect(await find(batch_id, other)).toEqual(['403']);
  expect(await find(batch_id, { ...merchant, storeId: other.storeId })).toEqual([]);
});

test('what a customer has is found by the name and the address of the customer', async () => {
  const [customer, email] = ['cust-of-two', 'Two.Things@example.com'];
  await merchant.sdk.customers.create({ external_customer_id: customer, email });
  const { id, latest_invoice } = await merchant.sdk.subscriptions.create(
    {
      customer,
      currency: 'USD',
      items: [
        {
          price_data: {
            currency: 'USD',
            product: 'Gold',
            unit_amount: 500n,
            recurring: { interval: 'month' },
          },
          quantity: 1,
        },
      ],
      success_url: 'https://shop.example/welcome',
    },
    { idempotencyKey: randomUUID() },
  );
  const theirs = [`subscription ${id}`, `invoice ${latest_invoice}`];
  for (const name of [customer, email, email.toLowerCase()])
    expect(await find(name), name).toEqual([
      expect.stringMatching(/^payment pay_/),
      expect.stringMatching(/^customer cus_/),
      ...theirs,
    ]);
  const other = await service.addStore(merchant);
  expect(await find(customer, other)).toEqual([expect.stringMatching(/^customer cus_/)]);
});
