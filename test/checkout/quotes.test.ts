import { afterAll, beforeAll, expect, test } from 'vitest';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { RATE_SETTINGS } from '../../packages/server/src/rates/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const CHOICE = { currency: 'USDT', network: 'trc20' } as const;

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

/** The payer of a new session of 10.00 USD. */
async function payerOf(merchant: TestMerchant) {
  const { id } = await merchant.sdk.checkout.sessions.create({
    amount: 1_000n,
    currency: 'USD',
    expires_in: 3_600,
  });
  const session = await getSession(service.app.db, merchant, id);
  const choose = async (choice: { currency: 'USDT' | 'USDC'; network: 'trc20' | 'spl' } = CHOICE) => {
    const now = await merchant.sdk.testHelpers.now();
    const clockOffset = now - service.app.clock.nowSeconds();
    const ref = { merchantId: merchant.merchantId, mode: 'sandbox' as const, clockOffset };
    const { options } = await chooseOption(service.app, ref, session, choice);
    return options.find(
      ({ currency, network }) => currency === choice.currency && network === choice.network,
    );
  };
  return { id, choose };
}

const breakRates = (merchant: TestMerchant) =>
  writeSetting(service.app.db, merchant.merchantId, RATE_SETTINGS.fixed, ['USD=1', 'USDT/USD=2']);

test('a valid quote is shown while there is no rate; once it has ended, or for another token, it is 503', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { choose } = await payerOf(merchant);
  const quoted = await choose();
  expect(quoted).toMatchObject({ pay_amount: 10_000_000n });
  await breakRates(merchant);
  expect(await choose()).toMatchObject({
    pay_amount: quoted?.pay_amount,
    quote_ends_at: quoted?.quote_ends_at,
    address: quoted?.address,
  });
  await expect(choose({ currency: 'USDT', network: 'spl' })).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  await merchant.sdk.testHelpers.advanceClock(901);
  await expect(choose()).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('a quote is held once money is seen, whatever its end and the rate', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { id, choose } = await payerOf(merchant);
  const quoted = await choose();
  await merchant.sdk.testHelpers.checkout.sessions.pay(id, { ...CHOICE, amount: '1.00' });
  await breakRates(merchant);
  await merchant.sdk.testHelpers.advanceClock(1_000);
  expect(await choose()).toMatchObject({ pay_amount: quoted?.pay_amount, address: quoted?.address });
});
