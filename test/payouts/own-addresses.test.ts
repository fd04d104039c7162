import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { giveOut, ownAddresses } from '../own-addresses.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { caller, ok, TO, verdict } from './requests.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function draft(merchant: TestMerchant, network: Network, addresses: readonly string[]) {
  const items = addresses.map((address) => ({ network, address, amount: '1.00' }));
  return await ok<{ batch_id: string }>(caller(service, merchant).create({ currency: 'USDT', items }));
}

test.each(NETWORKS)(
  'on %s the own wallet, own deposit addresses and shared wallets are findings; those of others are not',
  async (network) => {
    const [merchant, other] = [await service.createMerchant(), await service.createMerchant()];
    const { submit, call } = caller(service, merchant);
    const own = await ownAddresses(service, merchant, network);
    const foreign = [
      await giveOut(service, other, network),
      await service.app.chains.sandbox(other.merchantId, network).hotAddress(),
      TO[network].succeed,
    ];
    const batch = await draft(merchant, network, [...own, ...foreign]);
    const found = own.map((_, i) => ({ field: `items[${i}].address`, code: 'address_invalid' }));
    expect(batch).toMatchObject({
      can_submit: false,
      valid_count: foreign.length,
      validation_errors: found,
    });
    expect(verdict(await submit(batch.batch_id))).toBe('400 batch_cannot_submit');
    const clean = await draft(merchant, network, foreign);
    expect(clean).toMatchObject({ can_submit: true });
    const { data } = (await call(`/payout-batches/${clean.batch_id}/items`)).json as {
      data: { item_id: string }[];
    };
    const edited = await call(`/payout-batches/${clean.batch_id}/items/${data[0]?.item_id}`, {
      method: 'PUT',
      body: JSON.stringify({ network, address: own[0], amount: '2.00' }),
    });
    expect(edited.json).toMatchObject({ status: 'invalid' });
  },
);

test('an address that is given out later is found at submit, or, given out after it, at sending: that item fails', async () => {
  const merchant = await service.createMerchant();
  const { submit, read, items } = caller(service, merchant);
  const next = await service.app.chains.sandbox(merchant.merchantId, 'erc20').depositAddress({ index: 0 });
  const sent = await draft(merchant, 'erc20', [next.address, TO.erc20.succeed]);
  const late = await draft(merchant, 'erc20', [next.address.toLowerCase(), TO.erc20.succeed]);
  expect((await submit(sent.batch_id)).status).toBe(200);
  expect(await giveOut(service, merchant, 'erc20')).toBe(next.address);
  expect(verdict(await submit(late.batch_id))).toBe('400 batch_cannot_submit');
  expect(await read(late.batch_id)).toMatchObject({
    status: 'needs_fix',
    validation_errors: [{ field: 'items[0].address', code: 'address_invalid' }],
  });
  const worker = await service.startWorker();
  const isOver = async () => {
    await merchant.sdk.testHelpers.advanceClock(5);
    return (await read(sent.batch_id)).status === 'partially_completed';
  };
  await vi.waitUntil(isOver, { timeout: 20_000, interval: 100 });
  await worker.stop(5_000);
  expect(await items(sent.batch_id)).toMatchObject([
    { status: 'failed', failure_code: 'transfer_failed', tx_id: null },
    { status: 'succeeded', failure_code: null },
  ]);
  const { data } = await merchant.sdk.balances.retrieve();
  expect(data.find(({ currency }) => currency === 'USDT')).toMatchObject({ payout_hold: 0 });
});
