import type { PaymentMethod, Subscription } from '@florin/contract/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { billing, DAY } from '../subscriptions/billing.ts';
import { methodCalls, TOKENS } from './requests.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

const PRICE = 20 * TOKENS;

/** A customer's subscription of 20.00 USDT a month, paid by mandate from a new wallet that holds so much. */
async function subscribe(merchant: TestMerchant, balance: number): Promise<[Subscription, string]> {
  const calls = billing(service, merchant);
  const price = { currency: 'USDT', product: 'Gold', unit_amount: PRICE, recurring: { interval: 'month' } };
  const { id } = await calls.make({ currency: 'USDT', items: [{ price_data: price }] });
  const subscription = await calls.authorize(id, { balance });
  expect(subscription.status).toBe('active');
  return [subscription, subscription.payment_method_id ?? ''];
}

const statusOf = async (merchant: TestMerchant, id: string): Promise<PaymentMethod['status']> =>
  (await methodCalls(service, merchant).read(id)).status;

test('what a charge leaves is too little for the next one: known the moment it is booked, and mended by a top-up', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const calls = billing(service, merchant);
  const [subscription, method] = await subscribe(merchant, 2 * PRICE - 1);
  await expect.poll(() => statusOf(merchant, method), { timeout: 60_000 }).toBe('inactive');
  await methodCalls(service, merchant).change(method, { balance: PRICE });
  expect(await statusOf(merchant, method)).toBe('active');
  const { json } = await calls.post('/test_helpers/clock/advance', { seconds: 32 * DAY });
  expect(json.done).toBe(true);
  expect((await calls.read(subscription.id)).status).toBe('active');
  expect(await calls.invoices(subscription.id)).toMatchObject([{ status: 'paid' }, { status: 'paid' }]);
  await expect.poll(() => statusOf(merchant, method), { timeout: 60_000 }).toBe('inactive');
  const events = await methodCalls(service, merchant).events(method);
  expect(events.map(({ data }) => data.object.status)).toEqual(['inactive', 'active', 'inactive']);
  await expectLedgerWhole(service);
});

test('two subscriptions on one method: one that the wallet cannot pay fails alone, and goes with the next top-up', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const calls = billing(service, merchant);
  const [first, method] = await subscribe(merchant, 10 * PRICE);
  const price = { currency: 'USDT', product: 'Gold', unit_amount: PRICE, recurring: { interval: 'month' } };
  const order = { currency: 'USDT', items: [{ price_data: price }], payment_method_id: method };
  const second = await calls.make(order);
  await expect.poll(async () => (await calls.read(second.id)).status, { timeout: 20_000 }).toBe('active');
  await methodCalls(service, merchant).change(method, { balance: PRICE });
  await calls.post('/test_helpers/clock/advance', { seconds: 31 * DAY });
  const statuses = async () => [(await calls.read(first.id)).status, (await calls.read(second.id)).status];
  expect((await statuses()).toSorted()).toEqual(['active', 'past_due']);
  await methodCalls(service, merchant).change(method, { balance: PRICE });
  await calls.post('/test_helpers/clock/advance', { seconds: 60 });
  expect(await statuses()).toEqual(['active', 'active']);
  await expectLedgerWhole(service);
});
