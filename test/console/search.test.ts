import { randomUUID } from 'node:crypto';
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
  for (const name of [...names, transaction?.tx_id ?? '', transaction?.address ?? ''])
    expect(await find(name), name).toEqual(one);
  expect(await find('ADA.lovelace@example.com')).toEqual(expect.arrayContaining(one));
  expect(await find('cust-9')).toEqual([expect.stringMatching(/^customer cus_/)]);
  expect(await find(refund_id)).toEqual([`refund ${refund_id}`]);
  expect(await find('\0')).toEqual(['400']);
  for (const name of ['in_2078', 'pay_', ' ', '%', `pay_${'0'.repeat(26)}`, "'", 'in_207'])
    expect(await find(name), name).toEqual([]);
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
  for (const name of [key, batch_id, batch_id.slice(0, 14), item?.item_id ?? '', item?.tx_id ?? ''])
    expect(await find(name), name).toEqual([`payout ${batch_id}`]);
  const other = await service.createMerchant();
  expect(await find(batch_id, other)).toEqual(['403']);
  expect(await find(batch_id, { ...merchant, storeId: other.storeId })).toEqual([]);
});
