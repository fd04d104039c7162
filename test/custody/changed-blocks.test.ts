import { NETWORKS } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { scanOnce } from '../checkout/deposits-by-hand.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { attemptsOf, newPayout, submitItems } from '../transfers/payouts.ts';
import { Process } from '../transfers/process.ts';
import { auditOnce, creditedPayment, operatorsOf } from './audits.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const stopsOf = async (merchantId: string) =>
  (await networkCommands(service.app).list()).filter(
    (line) => line.merchant_id === encodeId('merchant', merchantId),
  );

const auditsDue = (merchantId: string) =>
  asOwner<{ due: boolean }>(
    service,
    `select due_at_ms <= $2::bigint as due from job where merchant_id = $1 and kind = 'custody.audit'`,
    [merchantId, service.app.clock.nowMs()],
  );

describe.each(NETWORKS)('%s', (network) => {
  test('fault 49: the next scan stops the network, whatever was swept, and starts an audit', async () => {
    const own = await creditedPayment(service, network);
    const { merchantId } = own.merchant;
    // Swept by a transaction that stays: the audit alone would find what is in no block, and nothing else.
    await new Process(service.app, merchantId).finish(network);
    await scanOnce(service.app, merchantId, network);
    await own.chain.mine(20);
    await scanOnce(service.app, merchantId, network);
    await asOwner(service, `update deposit_cursor set read_at = 0 where merchant_id = $1`, [merchantId]);
    await scanOnce(service.app, merchantId, network);
    expect(await stopsOf(merchantId)).toEqual([]);
    await own.chain.reorg(12);
    await Promise.all([1, 2].map(() => scanOnce(service.app, merchantId, network)));
    expect(await stopsOf(merchantId)).toMatchObject([{ network, status: 'stopped' }]);
    expect(await auditsDue(merchantId)).toEqual([{ due: true }]);
    expect(await operatorsOf(service, merchantId)).toEqual({});
    await auditOnce(service, merchantId, network);
    // A network that a person has resumed does not stop again for the same blocks.
    await networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
    for (let scan = 0; scan < 2; scan++) await scanOnce(service.app, merchantId, network);
    await auditOnce(service, merchantId, network);
    expect(await stopsOf(merchantId)).toEqual([]);
  });

  test('fault 49: nothing new is signed after such a reorganisation, even before a scan', async () => {
    const first = await newPayout(service, network, [{ to: 'succeed', amount: '10.00' }]);
    const { merchant, chain } = first;
    await new Process(service.app, merchant.merchantId).finish(network);
    expect(await attemptsOf(service, first)).toEqual(['succeeded']);
    // Something final is replaced: the payout's block, its bytes, and all that came after.
    const [paid] = (await chain.transfers({ address: await chain.hotAddress(), limit: 1 })).data;
    await chain.reorgFrom(paid?.height ?? 0n);
    const items = [{ to: 'succeed', amount: '1.00' }] as const;
    const second = await submitItems(service, merchant, { network, items: [...items] });
    const process = new Process(service.app, merchant.merchantId);
    for (let i = 0; i < 3; i++) await process.step();
    expect(await attemptsOf(service, second)).toEqual([]);
    expect(await stopsOf(merchant.merchantId)).toMatchObject([{ network, status: 'stopped' }]);
    await auditOnce(service, merchant.merchantId, network);
    await chain.mine(4);
    await auditOnce(service, merchant.merchantId, network);
    await networkCommands(service.app).resume(network, encodeId('merchant', merchant.merchantId));
    await process.finish(network);
    expect(await attemptsOf(service, second)).toEqual(['succeeded']);
  });
});

test('fault 48: blocks that are not final may be replaced, and a node may lag: nothing stops', async () => {
  const own = await creditedPayment(service, 'erc20');
  const { merchantId } = own.merchant;
  await own.chain.reorg(2);
  await scanOnce(service.app, merchantId, 'erc20');
  await own.chain.lag(30);
  await scanOnce(service.app, merchantId, 'erc20');
  await own.chain.lag(0);
  await auditOnce(service, merchantId, 'erc20');
  expect(await stopsOf(merchantId)).toEqual([]);
});
