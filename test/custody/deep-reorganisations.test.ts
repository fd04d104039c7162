import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ChainRegistry } from '../../packages/server/src/chains/index.ts';
import type { ScanQuery } from '../../packages/server/src/chains/port/port.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { rescanBlocks } from '../../packages/server/src/payments/deposits/rescan.ts';
import { readPayment } from '../../packages/server/src/payments/reads/queries.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { type OpenPayment, openPayment, scanOnce, sendTokens } from '../checkout/deposits-by-hand.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { BLOCKS_BY_HAND, startService, type TestService } from '../service.ts';
import { expectPaidOnce, newPayout, submitItems } from '../transfers/payouts.ts';
import { Process } from '../transfers/process.ts';
import { auditOnce, creditedPayment, operatorsOf } from './audits.ts';

const LOST = BigInt(100 * TOKEN);
let service: TestService;
/** What lasts a few blocks is seen here, however slow the machine. */
let still: TestService;

beforeAll(async () => {
  service = await startService();
  still = await startService({ simchainTiming: BLOCKS_BY_HAND });
});
afterEach(async () => {
  await expectLedgerWhole(service);
  await expectLedgerWhole(still);
});
afterAll(async () => {
  await service.stop();
  await still.stop();
});

const audit = (merchantId: string, network: Network) => auditOnce(service, merchantId, network);
const credited = (network: Network) => creditedPayment(service, network);
const operators = (merchantId: string) => operatorsOf(service, merchantId);

const stopsOf = async (merchantId: string, { app } = service) =>
  (await networkCommands(app).list()).filter((line) => line.merchant_id === encodeId('merchant', merchantId));

/** The payment as its merchant sees it. */
async function seenBy({ merchant, view }: OpenPayment) {
  const payment = await checkout(service, merchant).payment(encodeId('payment', view.payment.payment_id));
  return { payment, balances: await merchant.sdk.balances.retrieve() };
}

describe.each(NETWORKS)('%s', (network) => {
  test('fault 49: a credit whose transfer is gone stays the merchant’s; mined again the loss is booked back, without a second credit', async () => {
    const own = await credited(network);
    const { merchantId } = own.merchant;
    const before = await seenBy(own);
    expect(before.payment.status).toBe('completed');
    await own.chain.reorg(40);
    await Promise.all([audit(merchantId, network), audit(merchantId, network)]);
    await audit(merchantId, network);
    expect(await seenBy(own)).toEqual(before);
    expect(await operators(merchantId)).toEqual({
      [`reorg_loss:${network}`]: LOST,
      [`float:${network}`]: -LOST,
    });
    expect(await stopsOf(merchantId)).toMatchObject([{ network, status: 'stopped' }]);
    const { operator_accounts: shown } = await verifyLedger(service.app, () => {});
    const merchant_id = encodeId('merchant', merchantId);
    expect(shown.filter((row) => row.merchant_id === merchant_id)).toHaveLength(2);
    await expectLedgerWhole(service);

    // The payer's transaction comes again under its id, as it was.
    expect(await own.sendAgain()).toBe(own.txId);
    await own.chain.mine(4);
    await expectLedgerWhole(service);
    for (let scan = 0; scan < 3; scan++) await scanOnce(service.app, merchantId, network);
    await audit(merchantId, network);
    expect(await operators(merchantId)).toEqual({});
    expect(await seenBy(own)).toEqual(before);
    expect(await stopsOf(merchantId)).toHaveLength(1);
  });

  test('fault 49, 50: a final payout that is gone stops the network, and its own transaction pays it once', async () => {
    const payout = await newPayout(service, network, [{ to: 'succeed', amount: '10.00' }]);
    const { merchantId, sdk } = payout.merchant;
    const { chain } = payout;
    await chain.mine(250);
    await new Process(service.app, merchantId).finish(network);
    expect(await sdk.payouts.retrieve(payout.batchId)).toMatchObject({ status: 'completed' });
    const [paid] = (await chain.transfers({ address: await chain.hotAddress(), limit: 1 })).data;
    await chain.reorgFrom((paid?.height ?? 0n) - 1n);
    await audit(merchantId, network);
    expect(await stopsOf(merchantId)).toMatchObject([{ network, status: 'stopped' }]);
    await chain.mine(4);
    await expectPaidOnce(service, [payout]);
  });
});

test.each(NETWORKS)(
  'fault 49: on %s a sweep that goes with its deposit is made anew once that is mined again',
  async (network) => {
    const own = await credited(network);
    const { merchantId } = own.merchant;
    await new Process(service.app, merchantId).finish(network);
    await own.chain.reorg(40);
    await audit(merchantId, network);
    await own.chain.mine(4);
    await audit(merchantId, network);
    await own.sendAgain();
    await own.chain.mine(4);
    await scanOnce(service.app, merchantId, network);
    expect(await operators(merchantId)).toEqual({});
    await networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
    // Where the first bytes have ended another sweep is made; where they wait for the coins they move them.
    const inWallet = async () => {
      await audit(merchantId, network);
      await new Process(service.app, merchantId).step();
      await own.chain.mine(4);
      return await own.chain.balance(await own.chain.hotAddress(), 'USDT', 'final');
    };
    await expect.poll(inWallet, { timeout: 30_000 }).toBe(LOST);
  },
  60_000,
);

test('fault 49: while a network is stopped nothing new is sent there; other networks and the resumed one go on', async () => {
  const payout = await newPayout(service, 'erc20', [{ to: 'succeed', amount: '10.00' }]);
  const { merchant } = payout;
  const own = await credited('erc20');
  await service.app.db
    .insertInto('network_stop')
    .values({ merchant_id: merchant.merchantId, network: 'erc20', reason: 'test', stopped_at: 0 })
    .execute();
  const process = new Process(service.app, merchant.merchantId);
  for (let i = 0; i < 5; i++) await process.step();
  const attempts = () =>
    asOwner(service, 'select from transfer_attempt where merchant_id = $1', [merchant.merchantId]);
  expect(await attempts()).toEqual([]);
  const second = submitItems(service, merchant, {
    network: 'erc20',
    items: [{ to: 'succeed', amount: '1.00' }],
  });
  await expect(second).rejects.toMatchObject({ status: 503 });
  // Another merchant's chain is another chain.
  expect(await stopsOf(own.merchant.merchantId)).toEqual([]);
  expect(
    await networkCommands(service.app).resume('erc20', encodeId('merchant', merchant.merchantId)),
  ).toEqual({
    network: 'erc20',
    resumed: 1,
  });
  await process.finish('erc20');
  expect(await merchant.sdk.payouts.retrieve(payout.batchId)).toMatchObject({ status: 'completed' });
});

test('K5: a log that the first scan missed is found by the rescan and credited once; nothing is stopped', async () => {
  for (const network of NETWORKS) {
    const payment = await openPayment(still, network);
    const { merchantId } = payment.merchant;
    await scanOnce(still.app, merchantId, network);
    await sendTokens(payment, 60, 40);
    await payment.chain.mine(1);
    await scanOnce(still.app, merchantId, network);
    await payment.chain.mine(4);
    await payment.chain.injectFaults('lose_final_log');
    for (let scan = 0; scan < 3; scan++) await scanOnce(still.app, merchantId, network);
    const status = async () =>
      (await readPayment(still.app.db, merchantId, payment.view.payment.payment_id)).payment.status;
    expect(await status()).not.toBe('completed');
    await Promise.all([auditOnce(still, merchantId, network), auditOnce(still, merchantId, network)]);
    expect(await status()).toBe('completed');
    expect(await operatorsOf(still, merchantId)).toEqual({});
    expect(await stopsOf(merchantId, still)).toEqual([]);
    // A second reading that misses something itself takes nothing away.
    await payment.chain.injectFaults('lose_final_log');
    await auditOnce(still, merchantId, network);
    expect(await operatorsOf(still, merchantId)).toEqual({});
  }
});

test('fault 47: a node that has fallen behind is not taken for a reorganisation', async () => {
  const own = await credited('erc20');
  const { merchantId } = own.merchant;
  await own.chain.lag(50);
  await audit(merchantId, 'erc20');
  expect(await stopsOf(merchantId)).toEqual([]);
  await own.chain.lag(0);
});

test('fault 47: nor is a node that was behind while it read, and is not when its head is asked', async () => {
  const own = await credited('erc20');
  const { merchantId } = own.merchant;
  const who = { merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const { chains } = service.app;
  const catchingUp: ChainRegistry = {
    ...chains,
    of: (merchant, network) => {
      const chain = chains.of(merchant, network);
      const scan = async (query: ScanQuery) => {
        await own.chain.lag(50);
        const answer = await chain.scan(query);
        await own.chain.lag(0);
        return answer;
      };
      return Object.assign(Object.create(chain), { scan });
    },
  };
  const upTo = (await own.chain.head()).finalHeight;
  const blocks = { network: 'erc20', above: 0n, upTo } as const;
  const { known } = await rescanBlocks({ ...service.app, chains: catchingUp }, who, blocks);
  expect(known).toBe(1);
  expect(await operators(merchantId)).toEqual({});
  expect(await stopsOf(merchantId)).toEqual([]);
});
