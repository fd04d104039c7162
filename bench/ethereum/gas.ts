import { depositWallet, TANK } from '../../test/chains/evm/key-signer.ts';
import { fresh, payout, sweepOf, World } from '../../test/chains/evm/world.ts';
import type { Findings } from '../rows.ts';

const ITEMS = 200;
const SWEPT_TOGETHER = 8;
const DEPOSIT = 5_000_000n;

/** Rows 18a to 18c: what the node takes for our transactions. The same on any machine, so measured once. */
export async function measureGas(): Promise<Findings> {
  const world = await World.start();
  try {
    await world.furnish();
    const sender = world.sender();
    const gasOf = async (txId: string) =>
      Number((await world.client.getTransactionReceipt({ hash: `0x${txId.slice(2)}` })).gasUsed);
    const pay = async (asset: 'USDT' | 'USDC') => {
      const sequence = await world.sequenceOf(world.hot);
      const tx = await sender.buildTransfer(payout(asset, fresh(ITEMS), { sequence }));
      await world.settle(sender, tx);
      return await gasOf(tx.txId);
    };
    const [usdt, usdc] = [await pay('USDT'), await pay('USDC')];
    const deposits = Array.from({ length: SWEPT_TOGETHER }, (_, index) => index);
    for (const index of deposits) await world.mint('USDT', depositWallet(1, index).address, DEPOSIT);
    const items = deposits.map((index) => ({ index, asset: 'USDT' as const, amount: DEPOSIT }));
    const sequence = await world.sequenceOf(TANK.address);
    const tx = await sender.buildSweep(sweepOf(items, { sequence }));
    await world.settle(sender, tx);
    const each = (await gasOf(tx.txId)) / SWEPT_TOGETHER;
    return {
      results: [
        { row: '18a', values: [usdt] },
        { row: '18b', values: [usdc] },
        { row: '18c', values: [each] },
      ],
      remarks: [
        'Gas is that of anvil: recipients hold nothing before, swept addresses delegate in the same transaction. Geth takes ' +
          '12,500 more for each of these that has no ether.',
      ],
    };
  } finally {
    await world.stop();
  }
}
