import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const OPTION = { currency: 'USDT', network: 'erc20' } as const;

test('a payer pays, and gets the coins back that were paid: no other money is there', async () => {
  const { sdk } = await service.createMerchant({ funds: 0n });
  const session = await sdk.checkout.sessions.create({ amount: 100_000_000n, currency: 'USDT' });
  await sdk.testHelpers.checkout.sessions.pay(session.id, { ...OPTION, connected: true });
  const payment = await sdk.payments.retrieve(session.payment_id);
  expect(payment.status).toBe('completed');
  const part = await sdk.refunds.create({ payment_id: session.id, amount: '40', currency: 'USDT' });
  expect(part).toMatchObject({ address: payment.transactions[0]?.from, claim_url: null });
  const { erc20 } = await sdk.testHelpers.addresses();
  const rest = await sdk.refunds.create({ payment_id: payment.id, address: erc20.succeed });
  expect(rest).toMatchObject({ amount: 60_000_000, status: 'pending' });
  for (const { refund_id: id } of [part, rest]) {
    await expect
      .poll(
        async () => {
          await sdk.testHelpers.advanceClock(5);
          return (await sdk.refunds.retrieve(id)).status;
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe('succeeded');
  }
  const { data } = await sdk.balances.retrieve();
  expect(data.find((row) => row.currency === 'USDT')).toMatchObject({
    available: 0,
    held: 0,
    refund_hold: 0,
    custody: { erc20: 0, trc20: 0, spl: 0 },
    custody_hold: { erc20: 0, trc20: 0, spl: 0 },
  });
  expect((await sdk.payments.retrieve(payment.id)).amount_refunded).toBe(100_000_000);
}, 120_000);
