import { randomUUID } from 'node:crypto';
import { planBatches } from '@florin/contract/payout-file';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createBatches } from '../../packages/cli/src/payout-run.ts';
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

test('a file that grows past one batch under its key pays nobody of it again', async () => {
  const { succeed } = (await merchant.sdk.testHelpers.addresses()).trc20;
  const fileOf = (count: number) =>
    planBatches({
      description: undefined,
      items: Array.from({ length: count }, (_, i) => ({
        where: `line ${i + 2}`,
        locate: (column: string) => `line ${i + 2}, ${column}`,
        currency: 'USDT' as const,
        input: { network: 'trc20' as const, address: succeed, amount: `${i + 1}` },
      })),
    });
  const key = randomUUID();
  const create = (count: number) => createBatches(merchant.sdk, fileOf(count), key);
  const [first] = await create(200);
  const grown = await create(201);
  expect(grown.map(({ batch_id }) => batch_id)).toEqual([first?.batch_id, expect.any(String)]);
  expect(grown.map(({ total_count }) => total_count)).toEqual([200, 1]);
  expect(await create(201)).toMatchObject(grown.map(({ batch_id }) => ({ batch_id })));
  for (const count of [150, 199]) await expect(create(count)).rejects.toThrow(/dempotency/);
  expect(
    (await merchant.sdk.payouts.list({ limit: 100 })).data.filter(({ total_count }) => total_count > 3),
  ).toHaveLength(1);
});
