import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRiskAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import type { Logger } from '../../packages/server/src/platform/observability/log.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { clearSetting, writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { TRANSFER_SETTINGS } from '../../packages/server/src/transfers/index.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import {
  attemptsOf,
  expectPaidOnce,
  type Item,
  moveClock,
  NETWORKS,
  newMerchant,
  newPayout,
  type Payout,
  statusOf,
  submitItems,
} from './payouts.ts';
import { Process } from './process.ts';

const ITEMS: Item[] = [
  { to: 'succeed', amount: '10.00' },
  { to: 'succeed', amount: '2.50' },
  { to: 'succeed', amount: '1.25' },
];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const step = async (process: Process, times: number) => {
  for (let i = 0; i < times; i++) await process.step();
};

/** Keeps the texts of warnings and errors. */
function listen(): { heard: string[]; log: Logger } {
  const heard: string[] = [];
  const write = (_fields: unknown, text?: string) => void heard.push(text ?? '');
  return { heard, log: Object.assign(Object.create(service.app.log), { warn: write, error: write }) };
}

describe.each(NETWORKS)('%s', (network) => {
  test('J6: an address that is listed after submit: that item fails with its money back, the others are paid', async () => {
    const items: Item[] = [...ITEMS, { to: 'fail', amount: '7.77' }];
    const payout = await newPayout(service, network, items);
    const { fail: address } = testAddresses(network);
    const { db, clock } = service.app;
    await addRiskAddress(db, { network, address, reason: 'test' }, clock.nowMs());
    await new Process(service.app, payout.merchant.merchantId).finish(network);
    await asOwner(service, 'delete from risk_address');
    const { data } = await payout.merchant.sdk.payouts.items(payout.batchId).page();
    expect(data.filter((item) => item.status === 'succeeded')).toHaveLength(ITEMS.length);
    expect(data.find((item) => item.status === 'failed')).toMatchObject({
      failure_code: 'address_risk',
      amount: '7.77',
      tx_id: null,
    });
    await expectPaidOnce(service, [payout]);
  });

  test('fault 55: paused after submit: nothing is sent and a warning is logged, until the pause ends', async () => {
    const payout = await newPayout(service, network, ITEMS);
    const { merchantId } = payout.merchant;
    const { db } = service.app;
    await writeSetting(db, merchantId, TRANSFER_SETTINGS.paused, [`USDT:${network}`]);
    const { heard, log } = listen();
    const process = new Process(service.app, merchantId, { log });
    await step(process, 4);
    expect(heard).toContain('paused, transfers wait');
    expect(await statusOf(payout)).toBe('processing');
    expect(await attemptsOf(service, payout)).toEqual([]);
    await clearSetting(db, merchantId, TRANSFER_SETTINGS.paused);
    await process.finish(network);
    expect(await statusOf(payout)).toBe('completed');
    await expectPaidOnce(service, [payout]);
  });

  test('fault 55: transactions signed before the pause continue, as they may be sent already', async () => {
    const payout = await newPayout(service, network, ITEMS);
    const { merchantId } = payout.merchant;
    const process = new Process(service.app, merchantId);
    await step(process, 2);
    await writeSetting(service.app.db, merchantId, TRANSFER_SETTINGS.paused, [network]);
    await process.finish(network);
    expect(await statusOf(payout)).toBe('completed');
    await expectPaidOnce(service, [payout]);
  });

  test('canceled before a worker took it: nothing is sent, all money is back', async () => {
    const payout = await newPayout(service, network, ITEMS);
    const { sdk, merchantId } = payout.merchant;
    expect(await sdk.payouts.cancel(payout.batchId)).toMatchObject({
      status: 'canceled',
      frozen_amount: '0.00',
    });
    const process = new Process(service.app, merchantId);
    await process.finish(network);
    expect(process.crossed).not.toContain('before build');
    expect((await payout.chain.transfers({ limit: 50 })).data).toHaveLength(1);
    await expect(sdk.payouts.cancel(payout.batchId)).rejects.toMatchObject({ status: 400 });
  });

  test('a payment to the stuck address waits for its hour; other batches of the merchant do not', async () => {
    const merchant = await newMerchant(service, network);
    const stuck = await submitItems(service, merchant, { network, items: [{ to: 'stuck', amount: '3.00' }] });
    const other = await submitItems(service, merchant, { network, items: ITEMS });
    const { heard, log } = listen();
    const process = new Process(service.app, merchant.merchantId, { log });
    const bothGoOn = async () => {
      await step(process, 3);
      await stuck.chain.mine(2);
      return await statusOf(other);
    };
    await expect.poll(bothGoOn, { timeout: 60_000 }).toBe('completed');
    expect(await statusOf(stuck)).toBe('processing');
    await moveClock(service, stuck, 1_800);
    await step(process, 3);
    expect(await statusOf(stuck)).toBe('processing');
    expect(heard).toContain('transfers are undecided for long');
    await moveClock(service, stuck, 1_801);
    await process.finish(network);
    expect(await statusOf(stuck)).toBe('completed');
    await expectPaidOnce(service, [stuck, other]);
  });
});

test('I1: after all of it ledger and chains agree', () => expectLedgerWhole(service));

test('J6, fault 54: transfers that a short wallet does not cover wait without a transaction, and are sent once it is funded', async () => {
  const left = 4_000_000n;
  const payouts: Payout[] = [];
  for (const network of NETWORKS) {
    const payout = await newPayout(service, network, ITEMS);
    const { chain } = payout;
    payouts.push(payout);
    const { merchantId } = payout.merchant;
    const wallet = await chain.hotAddress();
    const leave = (balance: bigint) =>
      sql`update simchain.account set balance = ${balance}
        where merchant_id = ${merchantId} and address = ${wallet}`.execute(service.app.db);
    await leave(left);
    const process = new Process(service.app, merchantId);
    for (let i = 0; i < 8; i++) {
      await process.step();
      await chain.mine(4);
    }
    // Where a transaction takes one item, what is covered goes out; where it takes all, none does.
    const isOne = chain.capabilities.maxItemsPerTx === 1;
    expect(await attemptsOf(service, payout)).toEqual(isOne ? ['succeeded', 'succeeded'] : []);
    expect(await statusOf(payout)).toBe('processing');
    const { differences } = await verifyLedger(service.app, () => {});
    const found = left - (isOne ? 3_750_000n : 0n);
    expect(differences.find((difference) => difference.what.includes(wallet))).toMatchObject({ found });
    await leave(found + 999_996_000_000n);
    await process.finish(network);
    expect(await statusOf(payout)).toBe('completed');
  }
  await expectPaidOnce(service, payouts);
}, 60_000);
