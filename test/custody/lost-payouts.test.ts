import type { Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { refundCommands } from '../../packages/server/src/operator/refunds.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { signedOf } from '../../packages/server/src/transfers/queries.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { TO } from '../payouts/requests.ts';
import { shop as refundShop, TOKEN } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { newPayout, type Payout } from '../transfers/payouts.ts';
import { auditOnce, operatorsOf } from './audits.ts';
import { lose, resume, takeNewest, twoApprovers } from './lost.ts';

const POLL = { timeout: 60_000, interval: 200 };
let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function paidOut(network: Network): Promise<Payout & { itemId: string }> {
  const payout = await newPayout(service, network, [{ to: 'succeed', amount: '10.00' }]);
  await payout.chain.mine(20);
  const read = async () => {
    await payout.chain.mine(3);
    return (await payout.merchant.sdk.payouts.retrieve(payout.batchId)).status;
  };
  await expect.poll(read, POLL).toBe('completed');
  const { data } = await payout.merchant.sdk.payouts.items(payout.batchId).page();
  return { ...payout, itemId: data[0]?.item_id ?? '' };
}

const itemOf = async ({
  merchant,
  batchId,
  itemId,
}: {
  merchant: TestMerchant;
  batchId: string;
  itemId: string;
}) => await merchant.sdk.payouts.item(batchId, itemId);

const usdt = async ({ sdk }: TestMerchant) =>
  (await sdk.balances.retrieve()).data.find(({ currency }) => currency === 'USDT');

const paidTo = async (payout: Payout, network: Network) =>
  (await payout.chain.transfers({ address: TO[network].succeed, limit: 50 })).data.length;

/** Both people say the same. */
async function decide(payout: Payout & { itemId: string }, verb: 'repay' | 'giveBack') {
  const commands = payoutCommands(service.app);
  const [ann, bob] = await twoApprovers(service, payout.merchant);
  if (ann === undefined || bob === undefined) throw new Error('two approvers were made');
  const item = payout.itemId;
  expect(await commands[verb]({ item, ...ann })).toMatchObject({ agreed: 1, required: 2, done: false });
  await expect(commands[verb]({ item, ...ann })).rejects.toThrow('decided on this before');
  expect(await itemOf(payout)).toMatchObject({ status: 'succeeded' });
  const last = await commands[verb]({ item, ...bob });
  expect(last).toMatchObject({ agreed: 2, done: true });
  return { commands, ann };
}

describe('a payout whose bytes are dead after a reorganisation', () => {
  test('fault 50: is lost, and paid anew once two people decide so: a new transaction, and nothing is booked twice', async () => {
    const payout = await paidOut('spl');
    const { merchant, batchId } = payout;
    const before = await usdt(merchant);
    const first = await itemOf(payout);
    await lose(service, merchant);
    await expect
      .poll(() => itemOf(payout), POLL)
      .toMatchObject({ status: 'succeeded', lost_at: expect.any(Number) });
    expect(await paidTo(payout, 'spl')).toBe(0);
    await expectLedgerWhole(service);
    const { data } = await merchant.sdk.events
      .list({ type: 'payout_item.updated', resource: payout.itemId })
      .page();
    expect(data[0]?.data.previous_attributes).toEqual({ lost_at: null });
    await decide(payout, 'repay');
    await resume(service, merchant, 'spl');
    const isPaid = async () => {
      await payout.chain.mine(3);
      return (await itemOf(payout)).lost_at;
    };
    await expect.poll(isPaid, POLL).toBeNull();
    const after = await itemOf(payout);
    expect(after.tx_id).not.toBe(first.tx_id);
    expect(after.status).toBe('succeeded');
    expect(await paidTo(payout, 'spl')).toBe(1);
    expect(await usdt(merchant)).toEqual(before);
    expect(await merchant.sdk.payouts.retrieve(batchId)).toMatchObject({
      status: 'completed',
      success_count: 1,
    });
    expect(await operatorsOf(service, merchant.merchantId)).toEqual({});
  }, 120_000);

  test('fault 50: or fails and returns its money to the merchant; the batch keeps its status and updates its counts', async () => {
    const payout = await paidOut('spl');
    const { merchant, batchId } = payout;
    const before = await usdt(merchant);
    const { service_fee_amount: fee } = await itemOf(payout);
    await lose(service, merchant);
    await expect.poll(async () => (await itemOf(payout)).lost_at, POLL).toEqual(expect.any(Number));
    const { commands, ann } = await decide(payout, 'giveBack');
    await expect(commands.repay({ item: payout.itemId, ...ann })).rejects.toThrow('not lost');
    expect(await itemOf(payout)).toMatchObject({ status: 'failed', failure_code: 'transfer_failed' });
    expect(await merchant.sdk.payouts.retrieve(batchId)).toMatchObject({
      status: 'completed',
      success_count: 0,
      failed_count: 1,
      charged_service_fee_amount: '0.00',
    });
    const back = 10 * TOKEN + Math.round(Number(fee) * TOKEN);
    const after = await usdt(merchant);
    expect((after?.available ?? 0) - (before?.available ?? 0)).toBe(back);
    expect(after?.custody.spl).toBe((before?.custody.spl ?? 0) + 10 * TOKEN);
  }, 120_000);

  test('fault 50: cannot be decided while its transaction may still be mined; once mined it is unchanged', async () => {
    const payout = await paidOut('trc20');
    const { merchant } = payout;
    await takeNewest(service, merchant, 'trc20');
    await auditOnce(service, merchant.merchantId, 'trc20');
    const [ann] = await twoApprovers(service, merchant);
    if (ann === undefined) throw new Error('two approvers were made');
    await expect(payoutCommands(service.app).repay({ item: payout.itemId, ...ann })).rejects.toThrow(
      'not lost',
    );
    await payout.chain.mine(4);
    await auditOnce(service, merchant.merchantId, 'trc20');
    expect(await itemOf(payout)).toMatchObject({ status: 'succeeded', lost_at: null });
    expect(await paidTo(payout, 'trc20')).toBe(1);
  }, 120_000);
});

test('fault 50: a returned payout that is mined after all is the operator’s loss, as long as it stays mined', async () => {
  const payout = await paidOut('erc20');
  const { merchant, chain } = payout;
  const { merchantId } = merchant;
  const funds = (await usdt(merchant))?.custody.erc20 ?? 0;
  // The wallet is empty when its bytes are mined anew: they fail, for good.
  await chain.reorg(1_000_000);
  await auditOnce(service, merchantId, 'erc20');
  await chain.mine(4);
  await auditOnce(service, merchantId, 'erc20');
  await chain.fund('USDT', BigInt(funds + 10 * TOKEN), 'once more');
  await expect.poll(async () => (await itemOf(payout)).lost_at, POLL).toEqual(expect.any(Number));
  await decide(payout, 'giveBack');
  await expectLedgerWhole(service);
  const attempt = await service.app.db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .executeTakeFirstOrThrow();
  const mineAfterAll = async () => {
    await takeNewest(service, merchant, 'erc20');
    await chain.fund('USDT', BigInt(funds + 10 * TOKEN), 'once more');
    await chain.broadcast(signedOf(attempt));
    await chain.mine(4);
    await Promise.all([1, 2].map(() => auditOnce(service, merchantId, 'erc20')));
  };
  await mineAfterAll();
  expect(await paidTo(payout, 'erc20')).toBe(1);
  const loss = BigInt(10 * TOKEN);
  expect(await operatorsOf(service, merchantId)).toEqual({ 'reorg_loss:erc20': loss, 'float:erc20': -loss });
  await expectLedgerWhole(service);
  expect(await itemOf(payout)).toMatchObject({ status: 'failed' });
  // Taken away once more, its sequence is ours to fill: the loss is over, and comes again with the bytes.
  await mineAfterAll();
  expect(await operatorsOf(service, merchantId)).toEqual({ 'reorg_loss:erc20': loss, 'float:erc20': -loss });
  await takeNewest(service, merchant, 'erc20');
  await chain.fund('USDT', BigInt(funds + 10 * TOKEN), 'once more');
  await auditOnce(service, merchantId, 'erc20');
  await chain.mine(4);
  await auditOnce(service, merchantId, 'erc20');
  expect(await operatorsOf(service, merchantId)).toEqual({});
  expect(await chain.broadcast(signedOf(attempt))).toMatchObject({ result: 'rejected' });
}, 120_000);

test.each(['repay', 'giveBack'] as const)(
  'fault 50: a refund that is lost: %s',
  async (verb) => {
    const { merchant, paid, refund, read, ended, balance } = await refundShop(service, {
      funds: BigInt(500 * TOKEN),
    });
    const payment = await paid({ network: 'spl' });
    const chain = service.app.chains.sandbox(merchant.merchantId, 'spl');
    await chain.mine(20);
    const made = await refund({ payment_id: payment.id, address: TO.spl.succeed });
    const whole = await balance();
    const first = await ended(made.refund_id);
    expect(first.status).toBe('succeeded');
    await chain.mine(4);
    await lose(service, merchant);
    await expect.poll(() => read(made.refund_id), POLL).toMatchObject({ lost_at: expect.any(Number) });
    const [ann, bob] = await twoApprovers(service, merchant);
    if (ann === undefined || bob === undefined) throw new Error('two approvers were made');
    const commands = refundCommands(service.app);
    const named = { refund: made.refund_id, merchant: encodeId('merchant', merchant.merchantId) };
    expect(await commands[verb]({ ...named, ...ann })).toMatchObject({ done: false });
    expect(await commands[verb]({ ...named, ...bob })).toMatchObject({ done: true });
    await resume(service, merchant, 'spl');
    if (verb === 'repay') {
      const lostAt = async () => {
        await chain.mine(3);
        return (await read(made.refund_id)).lost_at;
      };
      await expect.poll(lostAt, POLL).toBeNull();
      const after = await read(made.refund_id);
      expect(after).toMatchObject({ status: 'succeeded' });
      expect(after.tx_id).not.toBe(first.tx_id);
      return;
    }
    expect(await read(made.refund_id)).toMatchObject({ status: 'failed', failure_reason: 'transfer_failed' });
    expect((await balance()).available).toBe((whole.available ?? 0) + made.amount);
    expect(await merchant.sdk.payments.retrieve(payment.id)).toMatchObject({ amount_refunded: 0 });
  },
  120_000,
);
