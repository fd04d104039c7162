import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmNode } from '../../../packages/server/src/chains/evm/node.ts';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import { ChainUnavailable, type SignedTx } from '../../../packages/server/src/chains/port/port.ts';
import { NodeError } from '../../../packages/server/src/chains/rpc/node.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { FINAL_BLOCKS, fresh, payout, World } from './world.ts';

type Answer = (answer: unknown) => unknown;
/** What one of two endpoints says instead; the other is honest. */
type Lies = Readonly<Record<string, Answer>>;

/**
 * Two endpoints of one node: the first to be asked lies, so that its word alone never decides. Where they differ, `agreed`
 * has no answer.
 */
function oneLiar(honest: EvmNode, lies: Lies): EvmNode {
  const call: EvmNode['call'] = async (method, params) => {
    const lie = lies[method];
    if (lie === undefined) return await honest.call(method, params);
    return lie(await honest.call(method, params).catch(() => null));
  };
  return {
    ...honest,
    call,
    callMany: (requests) => Promise.all(requests.map(({ method, params }) => call(method, params))),
    agreed: async (method, params) => {
      const [one, other] = [await call(method, params), await honest.call(method, params)];
      if (JSON.stringify(one) === JSON.stringify(other)) return one;
      throw new ChainUnavailable('erc20', 'the endpoints differ');
    },
  };
}

describe.skipIf(!hasAnvil())('J7: a node that lies decides nothing', () => {
  let world: World;
  let sender: EvmSender;
  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    sender = world.sender();
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const lied = (lies: Lies): EvmSender => world.sender({}, 1, oneLiar(world.node, lies));
  const built = async () =>
    await sender.buildTransfer(payout('USDT', fresh(2), { sequence: await world.sequenceOf(world.hot) }));
  const mined = async (blocks: number): Promise<SignedTx> => {
    const tx = await built();
    await sender.broadcast(tx);
    await world.mine(blocks);
    return tx;
  };
  const changed =
    (change: object): Answer =>
    (answer) =>
      answer === null ? null : { ...Object(answer), ...change };

  test('J2: a count of transactions that is not reached kills nothing', async () => {
    const tx = await built();
    const lies = { eth_getTransactionCount: () => '0xffff' };
    await expect(lied(lies).status(tx)).rejects.toThrow(ChainUnavailable);
  });

  test('J2: a receipt that is withheld kills nothing, although the sequence is used', async () => {
    const tx = await mined(FINAL_BLOCKS + 1);
    await expect(lied({ eth_getTransactionReceipt: () => null }).status(tx)).rejects.toThrow(
      ChainUnavailable,
    );
    expect(await sender.status(tx)).toMatchObject({ state: 'final' });
  });

  test('a final block that two do not agree on is not final', async () => {
    const tx = await mined(FINAL_BLOCKS + 1);
    const lies: Lies[] = [
      { eth_getTransactionReceipt: changed({ status: '0x0' }) },
      { eth_getTransactionReceipt: changed({ logs: [] }) },
      { eth_getTransactionReceipt: changed({ gasUsed: '0x1' }) },
    ];
    for (const one of lies) await expect(lied(one).status(tx)).rejects.toThrow(ChainUnavailable);
  });

  test('an invented receipt of an early block pays nobody', async () => {
    const [paid, open] = [await mined(FINAL_BLOCKS + 1), await built()];
    const receipt = await world.node.call('eth_getTransactionReceipt', [paid.txId]);
    const invented = { ...Object(receipt), transactionHash: open.txId };
    await expect(lied({ eth_getTransactionReceipt: () => invented }).status(open)).rejects.toThrow(
      ChainUnavailable,
    );
  });

  test('answers of another form are no answers', async () => {
    const tx = await mined(1);
    const receipts: unknown[] = [
      'a receipt',
      [],
      {},
      7,
      changed({ transactionHash: `0x${'1'.repeat(64)}` }),
      changed({ logs: 'none' }),
      changed({ logs: [{}] }),
      changed({ status: 1 }),
      changed({ blockNumber: null }),
      changed({ effectiveGasPrice: 'much' }),
    ];
    for (const one of receipts) {
      const lie: Answer = typeof one === 'function' ? (answer) => one(answer) : () => one;
      await expect(lied({ eth_getTransactionReceipt: lie }).status(tx)).rejects.toThrow(ChainUnavailable);
    }
    const spec = payout('USDT', fresh(1), { sequence: await world.sequenceOf(world.hot) });
    for (const history of [null, {}, { baseFeePerGas: ['1'], gasUsedRatio: [0] }, { baseFeePerGas: [] }]) {
      const liar = lied({ eth_feeHistory: () => history });
      await expect(liar.buildTransfer(spec)).rejects.toThrow(ChainUnavailable);
    }
  });

  test('absurd fees are capped, whoever reports them', async () => {
    const spec = payout('USDT', fresh(1), { sequence: await world.sequenceOf(world.hot) });
    const history = {
      baseFeePerGas: ['0x1', '0x1'],
      gasUsedRatio: [1],
      reward: [['0xffffffffffffffffff']],
    };
    const tx = await lied({ eth_feeHistory: () => history }).buildTransfer(spec);
    const { maxFeePerGas, maxPriorityFeePerGas, gasPerTransaction } = world.network().feeCeilings;
    expect(tx.feeLimit).toBeLessThanOrEqual((2n + maxPriorityFeePerGas) * gasPerTransaction);
    expect(maxPriorityFeePerGas).toBeLessThan(maxFeePerGas);
  });

  test('an accepted broadcast with another id, and one that is refused, prove nothing', async () => {
    const tx = await built();
    const other = lied({ eth_sendRawTransaction: () => `0x${'1'.repeat(64)}` });
    expect(await other.broadcast(tx)).toEqual({ result: 'rejected', code: 'wrong_hash', retryable: true });
    const refusing = lied({
      eth_sendRawTransaction: () => {
        throw new NodeError(-32_000, 'nonce too low');
      },
    });
    expect(await refusing.broadcast(tx)).toMatchObject({ result: 'rejected', code: 'nonce_too_low' });
    await world.mine(FINAL_BLOCKS + 1);
    expect(await sender.status(tx)).toMatchObject({ state: 'final', itemOk: [true, true] });
    expect(await refusing.broadcast(tx)).toEqual({ result: 'known' });
  });

  test('events of other contracts, senders and groups count for nothing', async () => {
    const tx = await mined(1);
    type Log = { address: string; topics: string[] };
    const rewrite =
      (change: (log: Log) => object): Answer =>
      (answer) => {
        const receipt = Object(answer);
        return { ...receipt, logs: receipt.logs.map((log: Log) => ({ ...log, ...change(log) })) };
      };
    const topic = (at: number) => (log: Log) => ({
      topics: log.topics.map((one, i) => (i === at ? `0x${'2'.repeat(64)}` : one)),
    });
    for (const change of [() => ({ address: world.tokens.USDT }), topic(0), topic(1), topic(2)]) {
      expect(await lied({ eth_getTransactionReceipt: rewrite(change) }).status(tx)).toMatchObject({
        state: 'failed',
        final: false,
        itemOk: [false, false],
      });
    }
  });
});
