import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError } from '../http/expect-error.ts';
import { caller } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const PATH = '/payment_links';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

test('a link has the documented fields, with an amount or open', async () => {
  const { paymentLinks } = merchant.sdk;
  const fixed = await paymentLinks.create({ amount: 1_999n, currency: 'USD', description: 'Coffee' });
  expect(fixed).toEqual({
    id: expect.stringMatching(/^plink_[0-9a-z]{26}$/),
    object: 'payment_link',
    store_id: expect.stringMatching(/^store_/),
    url: expect.stringMatching(new RegExp(`^${service.baseUrl}/pay/[1-9A-HJ-NP-Za-km-z]{32,44}$`)),
    amount: 1_999,
    open: false,
    currency: 'USD',
    description: 'Coffee',
    active: true,
    created: expect.any(Number),
  });
  const open = await paymentLinks.create({ open: true, currency: 'JPY' });
  expect(open).toMatchObject({ amount: null, open: true, currency: 'JPY', description: null });
  expect(await paymentLinks.retrieve(fixed.id)).toEqual(fixed);
  expect(open.url).not.toBe(fixed.url);
});

test('a link that nobody could pay is refused', async () => {
  const { post } = caller(service, merchant);
  const wrong: [body: object, code: string, param: string][] = [
    [{ currency: 'USD' }, 'parameter_missing', 'amount'],
    [{ amount: 1 }, 'parameter_missing', 'currency'],
    [{ amount: 1, open: true, currency: 'USD' }, 'invalid_request_error', 'open'],
    [{ open: false, currency: 'USD' }, 'invalid_request_error', 'open'],
    [{ amount: 0, currency: 'USD' }, 'invalid_request_error', 'amount'],
    [{ amount: 1, currency: 'XYZ' }, 'invalid_request_error', 'currency'],
    [{ open: true, currency: 'usd' }, 'invalid_request_error', 'currency'],
    [{ amount: 2 ** 53 - 1, currency: 'USD' }, 'invalid_request_error', 'amount'],
    [{ amount: 1, currency: 'USD', description: 'x'.repeat(501) }, 'invalid_request_error', 'description'],
  ];
  for (const [body, code, param] of wrong) {
    expectError(await post(PATH, body), `/api/v1${PATH}`, { status: 400, code, param });
  }
});

test('a link is closed and opened again; the list shows the links of the store, newest first', async () => {
  const other = await service.createMerchant({ funds: 0n });
  const { paymentLinks } = other.sdk;
  const made = [];
  for (let n = 1n; n <= 4n; n++) made.push(await paymentLinks.create({ amount: n, currency: 'USDC' }));
  const [first] = made;
  const id = first?.id ?? '';
  expect(await paymentLinks.update(id, { active: false })).toEqual({ ...first, active: false });
  expect(await paymentLinks.update(id, {})).toMatchObject({ active: false });
  expect(await paymentLinks.update(id, { active: true })).toEqual(first);
  const all = [];
  for await (const link of paymentLinks.list({ limit: 3 })) all.push(link);
  expect(all).toEqual(made.toReversed());
  const store = await service.addStore(other);
  expect((await store.sdk.paymentLinks.list().page()).data).toEqual([]);
  await expect(store.sdk.paymentLinks.retrieve(id)).rejects.toMatchObject({ status: 403 });
  await expect(store.sdk.paymentLinks.update(id, { active: false })).rejects.toMatchObject({ status: 403 });
});

test('B1, B4: one idempotency key creates one link; other parameters are a conflict', async () => {
  const { paymentLinks } = merchant.sdk;
  const key = { idempotencyKey: 'counter 1' };
  const [one, two] = await Promise.all([
    paymentLinks.create({ open: true, currency: 'EUR' }, key),
    paymentLinks.create({ open: true, currency: 'EUR' }, key),
  ]);
  expect(two).toEqual(one);
  const other = paymentLinks.create({ open: true, currency: 'USD' }, key);
  await expect(other).rejects.toMatchObject({ status: 409, code: 'conflict' });
  // Another operation has a space of its own.
  await merchant.sdk.checkout.sessions.create({ amount: 1_999n, currency: 'USD' }, key);
});

test('C1: writing needs the scope write, reading needs read', async () => {
  const reader = caller(service, await service.createMerchant({ scopes: ['read'], funds: 0n }));
  const writer = caller(service, await service.createMerchant({ scopes: ['write'], funds: 0n }));
  for (const path of [PATH, `${PATH}/x`]) expect((await writer.call(path)).status).toBe(403);
  expect((await reader.post(PATH, { open: true, currency: 'USD' })).status).toBe(403);
  expect((await reader.post(`${PATH}/x/update`, {})).status).toBe(403);
});
