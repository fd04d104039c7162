import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { TOKEN } from './requests.ts';
import { Shop } from './shop.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

test('K5: a transfer that no scan found is found by its address’s balance before the payment ends', async () => {
  const shop = await Shop.open(service);
  const [missed, empty] = [await shop.due({ expires_in: 300 }), await shop.due({ expires_in: 300 })];
  await shop.scan();
  await shop.send(missed.address);
  await shop.chain().injectFaults('lose_tip_log', 'lose_tip_log', 'lose_tip_log', 'lose_final_log');
  shop.wait(1);
  await shop.scan();
  // So many blocks later that no look at the newest ones would find it.
  shop.wait(400);
  await shop.scan();
  await shop.scan();
  shop.wait(3_000);
  await shop.scan();
  expect(await shop.payment(missed)).toMatchObject({ status: 'pending', amount_received: 0 });
  expect(await shop.expire(missed)).toBe(false);
  expect(await shop.payment(missed)).toMatchObject({ status: 'completed', amount_received: 100 * TOKEN });
  expect(await shop.expire(empty)).toBe(false);
  expect(await shop.payment(empty)).toMatchObject({ status: 'expired', transactions: [] });
  expect(await shop.balance()).toEqual({ available: 100 * TOKEN, held: 0, seized: 0 });
});

test('K5: a payment does not end while its address’s balance cannot be read', async () => {
  const shop = await Shop.open(service);
  const due = await shop.due({ expires_in: 300 });
  shop.wait(400);
  await shop.scan();
  await shop.chain().outage(60);
  expect(await shop.expire(due)).toBe(true);
  expect(await shop.payment(due)).toMatchObject({ status: 'pending' });
  shop.wait(61);
  expect(await shop.expire(due)).toBe(false);
  expect(await shop.payment(due)).toMatchObject({ status: 'expired' });
});
