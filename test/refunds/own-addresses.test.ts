import { NETWORKS } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { REFUND_SETTINGS } from '../../packages/server/src/refunds/settings.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { giveOut, ownAddresses } from '../own-addresses.ts';
import { startService, type TestService } from '../service.ts';
import { refusal, shop, TOKEN } from './requests.ts';

const FUNDS = 1_000n * BigInt(TOKEN);

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

test.each(NETWORKS)(
  'on %s no refund goes to an own address: not a given one, not one named behind the link',
  async (network) => {
    const { merchant, paid, create, refund, claim, read } = await shop(service, { funds: FUNDS });
    const { id } = await paid({ network });
    const own = await ownAddresses(service, merchant, network);
    for (const address of own) expect(refusal(await create({ payment_id: id, address }))).toBe('400 address');
    const { claim_url: url } = await refund({ refund_id: 'asked', payment_id: id });
    for (const address of own) {
      expect(refusal(await claim('asked', address))).toBe('400 address');
      const page = await fetch(url ?? '', {
        method: 'POST',
        body: new URLSearchParams({ address, sure: 'yes' }),
      });
      expect([page.status, (await page.text()).includes('No money can be sent')]).toEqual([400, true]);
    }
    expect(await read('asked')).toMatchObject({ status: 'pending', address: null });
    const other = await giveOut(service, await service.createMerchant(), network);
    expect(refusal(await claim('asked', other))).toBe('200');
  },
);

test('an address that becomes a deposit address during the delay: the refund fails, its money is released', async () => {
  const { merchant, paid, refund, read, ended, balance } = await shop(service, { funds: FUNDS });
  const { id } = await paid({ network: 'trc20' });
  await writeSetting(service.app.db, merchant.merchantId, REFUND_SETTINGS.delaySeconds, 600);
  const chain = service.app.chains.sandbox(merchant.merchantId, 'trc20');
  const { address } = await chain.depositAddress({ index: 1 });
  await refund({ refund_id: 'r', payment_id: id, address });
  expect(await giveOut(service, merchant, 'trc20')).toBe(address);
  expect(await read('r')).toMatchObject({ status: 'pending' });
  await merchant.sdk.testHelpers.advanceClock(601);
  expect(await ended('r')).toMatchObject({
    status: 'failed',
    failure_reason: 'transfer_failed',
    tx_id: null,
  });
  expect(await balance()).toEqual({ available: 3_100 * TOKEN, held: 0, refund_hold: 0 });
});
