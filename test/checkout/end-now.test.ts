import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { endPaymentNow } from '../../packages/server/src/payments/end-payment-now.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { TOKEN } from './requests.ts';
import { type Due, Shop } from './shop.ts';

// What the panel of a sandbox page does when its time is to end at once.

const SIX = 6n * BigInt(TOKEN);
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function end(shop: Shop, { session }: Due): Promise<void> {
  const { payment_id: paymentId } = await getSession(service.app.db, shop.merchant, session.id);
  const merchant = { merchantId: shop.merchant.merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  await endPaymentNow(shop.deps, merchant, paymentId);
}

test.each([
  ['nobody has seen', []],
  ['one reading has seen', ['scan']],
  ['is final', ['settle']],
] as const)(
  'money that %s as the time ends, in the second in which it was sent, is in time',
  async (_, steps) => {
    const shop = await Shop.open(service);
    const due = await shop.due({ amount: 10 * TOKEN });
    await shop.scan();
    await shop.send(due.address, { amount: SIX });
    for (const step of steps) await shop[step]();
    await end(shop, due);
    shop.wait(60);
    // Readings side by side come to the same.
    await Promise.all([shop.settle(), shop.scan(), shop.scan()]);
    expect(await shop.expire(due)).toBe(false);
    expect(await shop.payment(due)).toMatchObject({ status: 'expired', exceptions: ['underpaid'] });
  },
);

test('the payment cannot be expired while its chain is unreachable', async () => {
  const shop = await Shop.open(service);
  const due = await shop.due({ amount: 10 * TOKEN });
  await shop.chain().outage(60);
  await expect(end(shop, due)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(await shop.payment(due)).toMatchObject({ status: 'pending', expires_at: due.session.expires_at });
});
