import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { expirePayment } from '../../packages/server/src/payments/expire-payment.ts';
import { jobOf } from '../job.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { type Due, Shop } from './shop.ts';

// What payers do while the job that ends a payment looks at the chains.

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

/** The job that ends a payment; meanwhile something happens, as it asks the chain for balances. */
async function expireWhile(shop: Shop, { session }: Due, happens: () => Promise<unknown>): Promise<boolean> {
  const { merchant, deps } = shop;
  const { payment_id: paymentId } = await getSession(deps.db, merchant, session.id);
  let isFirst = true;
  const of: typeof deps.chains.of = (...asked) =>
    new Proxy(deps.chains.of(...asked), {
      get(chain, name) {
        const member: unknown = Reflect.get(chain, name, chain);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          if (name === 'balances' && isFirst) {
            isFirst = false;
            await happens();
          }
          return await Reflect.apply(member, chain, args);
        };
      },
    });
  const chains: typeof deps.chains = Object.assign(Object.create(deps.chains), { of });
  const outcome = await expirePayment({ ...deps, chains }, jobOf(merchant.merchantId, { paymentId }));
  expect(isFirst).toBe(false);
  return outcome !== 'done';
}

test('the network of a newly chosen option is scanned before the payment expires', async () => {
  const shop = await Shop.open(service);
  const due = await shop.due({ expires_in: 300 });
  shop.wait(301);
  await shop.scan();
  const option = { currency: 'USDT', network: 'trc20' } as const;
  expect(await expireWhile(shop, due, () => shop.choose(due.session.id, option))).toBe(true);
  expect((await shop.payment(due)).status).toBe('pending');
  await shop.scan('trc20');
  expect(await shop.expire(due)).toBe(false);
  expect((await shop.payment(due)).status).toBe('expired');
});
