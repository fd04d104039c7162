import type { Network } from '@florin/contract/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimulatedChain, testAddresses } from '../../packages/server/src/chains/index.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { findMerchant } from '../../packages/server/src/stores/index.ts';
import { adoptSequence } from '../../packages/server/src/transfers/history/index.ts';
import { requestTransfers } from '../../packages/server/src/transfers/index.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { signElsewhere } from './elsewhere.ts';
import {
  attemptsOf,
  expectPaidOnce,
  type Item,
  moveClock,
  NETWORKS,
  newMerchant,
  statusOf,
  submitItems,
} from './payouts.ts';
import { Process } from './process.ts';

const ONE: Item[] = [{ to: 'succeed', amount: '10.00' }];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Orders transfers as a module above would, past the checks that payouts make. @returns the group */
async function order(
  merchant: TestMerchant,
  network: Network,
  addresses: readonly string[],
): Promise<string> {
  const groupId = newId();
  const { db, clock } = service.app;
  const orders = addresses.map((address, i) => ({
    ownerType: 'test_owner',
    ownerId: newId(),
    groupId,
    place: i,
    network,
    currency: 'USDT' as const,
    address,
    amount: 1_000_000n + BigInt(i),
    memo: null,
  }));
  const now = { seconds: clock.nowSeconds(), realMs: clock.nowMs() };
  await transact(db, (tx) => requestTransfers(tx, merchant.merchantId, orders, now));
  return groupId;
}

const transfersOf = (groupId: string) =>
  asOwner<{ status: string; failure_message: string | null }>(
    service,
    'select status, failure_message from transfer where group_id = $1 order by amount',
    [groupId],
  );

const outgoing = async (chain: SimulatedChain) => {
  const own = await chain.hotAddress();
  return (await chain.transfers({ address: own, limit: 50 })).data.filter(
    (transfer) => transfer.from === own,
  );
};

test.each(NETWORKS)(
  'J6: a transfer that %s cannot carry fails with its reason; others of its group and later ones continue',
  async (network) => {
    const merchant = await newMerchant(service, network);
    const { succeed } = testAddresses(network);
    const group = await order(merchant, network, [succeed, 'nowhere', succeed]);
    const process = new Process(service.app, merchant.merchantId);
    await process.finish(network);
    const rows = await transfersOf(group);
    expect(rows.map((row) => row.status)).toEqual(['succeeded', 'failed', 'succeeded']);
    expect(rows[1]?.failure_message).toContain('could not be built');
    const after = await submitItems(service, merchant, { network, items: ONE });
    await process.finish(network);
    expect(await statusOf(after)).toBe('completed');
    const paid = (await outgoing(after.chain)).filter((transfer) => transfer.from !== transfer.to);
    expect(new Set(paid.map((transfer) => transfer.amount))).toEqual(
      new Set([1_000_000n, 1_000_002n, 10_000_000n]),
    );
    expect(paid).toHaveLength(3);
    const told = await asOwner(service, 'select payload from job where merchant_id = $1 and kind = $2', [
      merchant.merchantId,
      'test_owner.decided',
    ]);
    expect(told).toEqual([{ payload: { groupId: group } }]);
  },
);

test('J3: the sequence of a transaction that cannot be built is used up by an empty payment', async () => {
  const merchant = await newMerchant(service, 'erc20');
  const chain = service.app.chains.sandbox(merchant.merchantId, 'erc20');
  const group = await order(merchant, 'erc20', ['nowhere']);
  await new Process(service.app, merchant.merchantId).finish('erc20');
  expect(await transfersOf(group)).toMatchObject([{ status: 'failed' }]);
  expect(await chain.nextSequence(await chain.hotAddress())).toBe('1');
  expect(await outgoing(chain)).toEqual([]);
});

test('I2: a group that is retried one by one does not touch groups that are still under way', async () => {
  const merchant = await newMerchant(service, 'spl');
  const items = Array.from({ length: 16 }, (_, i): Item => ({ to: 'succeed', amount: `${i + 1}.00` }));
  // The first eight wait for an hour; the others fail together before that and go out again alone.
  const special = { 3: 'stuck', 12: 'fail' } as const;
  for (const [i, to] of Object.entries(special)) items[Number(i)] = { to, amount: `${Number(i) + 1}.00` };
  const payout = await submitItems(service, merchant, { network: 'spl', items });
  const process = new Process(service.app, merchant.merchantId);
  for (let i = 0; i < 8; i++) {
    await process.step();
    await payout.chain.mine(2);
  }
  const attempts = await attemptsOf(service, payout);
  expect(attempts.slice(0, 2)).toEqual(['sent', 'failed']);
  expect(attempts).toHaveLength(2 + 8);
  await moveClock(service, payout, 3_601);
  await process.finish('spl');
  expect(await payout.merchant.sdk.payouts.retrieve(payout.batchId)).toMatchObject({
    success_count: 15,
    failed_count: 1,
  });
  await expectPaidOnce(service, [payout]);
});

/** A payment of the wallet to itself that the service does not know. */
async function sendElsewhere(merchant: TestMerchant, chain: SimulatedChain, sequence: number): Promise<void> {
  await chain.broadcast(signElsewhere(merchant.merchantId, sequence));
  await chain.mine(4);
}

test('J3: a wallet that was used before begins with the chain’s own count', async () => {
  const merchant = await newMerchant(service, 'erc20');
  const chain = service.app.chains.sandbox(merchant.merchantId, 'erc20');
  for (const sequence of [0, 1]) await sendElsewhere(merchant, chain, sequence);
  const payout = await submitItems(service, merchant, { network: 'erc20', items: ONE });
  await new Process(service.app, merchant.merchantId).finish('erc20');
  await expectPaidOnce(service, [payout]);
  expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
  expect(await chain.nextSequence(await chain.hotAddress())).toBe('3');
});

test('fault 76: sequences used outside the service: nothing new is sent before an operator adopts them', async () => {
  const merchant = await newMerchant(service, 'erc20');
  const first = await submitItems(service, merchant, { network: 'erc20', items: ONE });
  const heard: string[] = [];
  const error = (_fields: unknown, text?: string) => void heard.push(text ?? '');
  const log = Object.assign(Object.create(service.app.log), { error });
  const process = new Process(service.app, merchant.merchantId, { log });
  await process.finish('erc20');
  for (const sequence of [1, 2]) await sendElsewhere(merchant, first.chain, sequence);
  const second = await submitItems(service, merchant, {
    network: 'erc20',
    items: [{ to: 'succeed', amount: '4.00' }],
  });
  for (let i = 0; i < 4; i++) await process.step();
  expect(await attemptsOf(service, second)).toEqual([]);
  expect(heard.join()).toContain('old copy');
  const row = await findMerchant(service.app.db, merchant.merchantId);
  if (row === undefined) throw new Error('the merchant is not there');
  expect(await adoptSequence(service.app, row, 'erc20')).toBe(true);
  expect(await adoptSequence(service.app, row, 'erc20')).toBe(false);
  expect(await adoptSequence(service.app, row, 'spl')).toBe(false);
  await process.finish('erc20');
  expect(await attemptsOf(service, second)).toEqual(['succeeded']);
  await expectPaidOnce(service, [first, second]);
});
