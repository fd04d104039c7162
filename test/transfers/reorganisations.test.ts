import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import {
  attemptsOf,
  expectPaidOnce,
  type Item,
  NETWORKS,
  newPayout,
  type Payout,
  submitItems,
} from './payouts.ts';
import { Process } from './process.ts';

const ITEMS: Item[] = [
  { to: 'succeed', amount: '10.00' },
  { to: 'succeed', amount: '2.50' },
];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Runs jobs until the payouts' transactions are out. */
async function send(process: Process, times = 1): Promise<void> {
  for (let left = times; left > 0; ) if ((await process.step()) === 'transfers.send') left -= 1;
}

const moved = async ({ chain }: Payout) =>
  (await chain.transfers({ address: await chain.hotAddress(), limit: 50 })).data.filter(
    (transfer) => transfer.from !== transfer.to && transfer.amount < 1_000_000_000n,
  );

/** Replaces every block with a transfer of the payout. @returns how many */
async function undo(payout: Payout, remine: boolean): Promise<number> {
  const transfers = await moved(payout);
  if (transfers.length === 0) return 0;
  const heights = transfers.map((transfer) => transfer.height);
  const lowest = heights.reduce((least, height) => (height < least ? height : least));
  const { height } = await payout.chain.reorgFrom(lowest, { remine });
  return Number(height - lowest) + 1;
}

describe.each(NETWORKS)('%s', (network) => {
  test.each([
    [1, false],
    [1, true],
    [2, false],
    [2, true],
  ])(
    'J5: fault 50: %i blocks with a payout are replaced (others re-mined: %s): booked once',
    async (depth, remine) => {
      const payout = await newPayout(service, network, ITEMS);
      const process = new Process(service.app, payout.merchant.merchantId);
      await send(process);
      await payout.chain.mine(depth);
      expect(await moved(payout)).toHaveLength(ITEMS.length);
      // Seen in a block, which decides nothing.
      if (depth === 1) await send(process);
      expect(await undo(payout, remine)).toBeGreaterThanOrEqual(depth);
      expect(await moved(payout)).toEqual([]);
      await process.finish(network);
      await expectPaidOnce(service, [payout]);
      expect(new Set(await attemptsOf(service, payout))).toEqual(new Set(['succeeded']));
    },
  );

  test('J5: fault 50: a payout whose block is replaced twice is mined once', async () => {
    const payout = await newPayout(service, network, ITEMS);
    const process = new Process(service.app, payout.merchant.merchantId);
    for (let round = 0; round < 2; round++) {
      await send(process);
      await payout.chain.mine(1);
      expect(await moved(payout)).toHaveLength(ITEMS.length);
      await undo(payout, false);
    }
    await process.finish(network);
    await expectPaidOnce(service, [payout]);
  });
});

test('J5: several sequences in flight lose their blocks: each is mined once, in order', {
  timeout: 60_000,
}, async () => {
  const first = await newPayout(service, 'erc20', ITEMS);
  const { merchant } = first;
  const others: Payout[] = [];
  for (const amount of ['3.00', '4.00']) {
    others.push(
      await submitItems(service, merchant, { network: 'erc20', items: [{ to: 'succeed', amount }] }),
    );
  }
  const all = [first, ...others];
  const process = new Process(service.app, merchant.merchantId);
  const step = async () => {
    await process.step();
    return (await Promise.all(all.map((payout) => attemptsOf(service, payout)))).flat();
  };
  await expect.poll(step, { timeout: 30_000 }).toEqual(['sent', 'sent', 'sent']);
  await first.chain.mine(1);
  await undo(first, false);
  await process.finish('erc20');
  await expectPaidOnce(service, all);
  for (const payout of all) expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
});

test('I1: after all of it ledger and chains agree', () => expectLedgerWhole(service));
