import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
/** No journey ends with money that is nowhere. */
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

test('funding adds to balance and chain until the sum could not be shown exactly', async () => {
  const { sdk } = await service.createMerchant({ funds: 0n });
  const most = 10n ** 15n;
  const network = 'spl' as const;
  for (let i = 0; i < 9; i++) await sdk.testHelpers.fund({ currency: 'USDT', network, amount: most });
  const refused = sdk.testHelpers.fund({ currency: 'USDT', network, amount: most });
  await expect(refused).rejects.toMatchObject({ status: 400, param: 'amount' });
  const [usdt] = (await sdk.balances.retrieve()).data;
  expect(usdt).toMatchObject({
    currency: 'USDT',
    available: 9e15,
    custody: { erc20: 0, trc20: 0, spl: 9e15 },
  });
});

test('a chain is mined, reorganised and taken away; remine alone is refused', async () => {
  const { sdk } = await service.createMerchant({ funds: 0n });
  const before = await sdk.testHelpers.controlChain('erc20', {});
  const mined = await sdk.testHelpers.controlChain('erc20', { mine: 10 });
  expect(mined.height).toBeGreaterThanOrEqual(before.height + 10);
  expect(mined.height - mined.final_height).toBe(2);
  expect((await sdk.testHelpers.controlChain('erc20', { reorg: 2, remine: true })).height).toBeGreaterThan(
    before.height,
  );
  await sdk.testHelpers.controlChain('erc20', { outage_seconds: 5, drop_next: 1 });
  await expect(sdk.testHelpers.controlChain('erc20', { remine: true })).rejects.toMatchObject({
    param: 'remine',
  });
  await sdk.testHelpers.controlChain('erc20', { outage_seconds: 0 });
});

test('a payment is scanned as soon as blocks are mined by hand', async () => {
  const { merchantId, sdk } = await service.createMerchant();
  const { erc20 } = await sdk.testHelpers.addresses();
  const items = [{ network: 'erc20' as const, address: erc20.stuck, amount: '3.00' }];
  const { batch_id } = await sdk.payouts.create({ currency: 'USDT', items });
  await sdk.payouts.submit(batch_id);
  const look = () =>
    service.app.db
      .selectFrom('job')
      .select(['due_at_ms', 'lease_until_ms'])
      .where('merchant_id', '=', merchantId)
      .where('kind', '=', 'transfers.send')
      .executeTakeFirstOrThrow();
  // Once it is sent, looks at what is held back for an hour come a minute apart.
  await sdk.testHelpers.advanceClock(1_800);
  await expect.poll(async () => (await look()).lease_until_ms).toBe(null);
  const before = (await look()).due_at_ms;
  await sdk.testHelpers.controlChain('erc20', { mine: 1 });
  expect((await look()).due_at_ms).not.toBe(before);
});

test('a payout waits during an outage and ends shortly after it', async () => {
  const { sdk } = await service.createMerchant();
  const { erc20 } = await sdk.testHelpers.addresses();
  await sdk.testHelpers.controlChain('erc20', { outage_seconds: 30 });
  const items = [{ network: 'erc20' as const, address: erc20.succeed, amount: '3.00' }];
  const { batch_id } = await sdk.payouts.create({ currency: 'USDT', items });
  await sdk.payouts.submit(batch_id);
  await expect.poll(async () => (await sdk.payouts.retrieve(batch_id)).status).toBe('processing');
  await sdk.testHelpers.advanceClock(60);
  await expect
    .poll(async () => (await sdk.payouts.retrieve(batch_id)).status, { timeout: 60_000 })
    .toBe('completed');
});
