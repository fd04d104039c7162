import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
});
/** No journey ends with money that is nowhere. */
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

for (const network of ['erc20', 'trc20', 'spl'] as const) {
  test(`a batch of three with one failing address ends partially_completed on ${network}`, async () => {
    const addresses = (await merchant.sdk.testHelpers.addresses())[network];
    const created = await merchant.sdk.payouts.create({
      currency: 'USDT',
      items: [
        { network, address: addresses.succeed, amount: '10.00' },
        { network, address: addresses.fail, amount: '5.50' },
        { network, address: addresses.succeed, amount: '1' },
      ],
    });
    expect(created).toMatchObject({ status: 'draft', can_submit: true, total_amount: '16.50' });
    expect(await merchant.sdk.payouts.submit(created.batch_id)).toMatchObject({ status: 'pending' });
    await expect
      .poll(async () => (await merchant.sdk.payouts.retrieve(created.batch_id)).status, { timeout: 20_000 })
      .toBe('partially_completed');
    const batch = await merchant.sdk.payouts.retrieve(created.batch_id);
    expect(batch).toMatchObject({ success_count: 2, failed_count: 1, frozen_amount: '0.00' });
  });
}
