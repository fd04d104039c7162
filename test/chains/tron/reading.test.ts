import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port.ts';
import { EndpointFailed } from '../../../packages/server/src/chains/rpc/messages.ts';
import type { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import { TRANSFER_TOPIC } from '../../../packages/server/src/chains/tron/listed-tokens.ts';
import type { TronNode } from '../../../packages/server/src/chains/tron/node.ts';
import { comparedText, reducerOf } from '../../../packages/server/src/chains/tron/reduced.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import type { TronEndpoint } from '../../nodes/tron/node.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { lying } from './lying-node.ts';

const INFOS = 'walletsolidity/gettransactioninfobyblocknum';
const PART = 'walletsolidity/gettransactioninfobyid';
const RUN = 'walletsolidity/getblockbylimitnext';

describe.skipIf(!hasAnvil())('reading Tron', () => {
  let local: TronEnvironment;
  let others: TronEndpoint[];
  /** The operator's own node; two providers; three. */
  let own: TronEndpoints;
  let two: TronEndpoints;
  let three: TronEndpoints;
  let deposits = 0;

  beforeAll(async () => {
    local = await TronEnvironment.start();
    others = [await local.node.open(), await local.node.open()];
    const urls = [local.node.url, ...others.map(({ url }) => url)].map((url) => ({ url, isOwn: false }));
    own = local.endpoints();
    two = local.endpoints({ ...local.network, endpoints: urls.slice(0, 2) });
    three = local.endpoints({ ...local.network, endpoints: urls });
  });
  afterAll(async () => {
    await Promise.all([own?.close(), two?.close(), three?.close()]);
    await local?.node.stop();
  });
  afterEach(() => {
    for (const { view, faults } of [local.node.endpoint, ...others]) {
      Object.assign(view, { lag: 0, solidLag: 0, solid: true });
      view.swollen.clear();
      faults.clear();
    }
  });

  /** A deposit address that was just paid, and the cursor before that. */
  async function paid(amount = 7_000_000n) {
    deposits += 1;
    const chain = local.open(own);
    const { address } = await chain.depositAddress({ index: deposits });
    const cursor = await chain.cursorAt((await chain.head()).height);
    const txId = await local.pay([{ from: local.wallet('a payer'), to: address, asset: 'USDT', amount }]);
    return { address, cursor, txId };
  }

  test('an endpoint with another first block is not used, and the error says which and why', async () => {
    const network = { ...local.network, genesisHash: '1'.repeat(64) };
    const strange = local.endpoints(network);
    await expect(local.open(strange).head()).rejects.toThrow(
      /serves a chain with another first block \([0-9a-f]{64}\): correct its URL, or genesis_hash/,
    );
    await strange.close();
  });

  test('K4: a node without a solid view, or whose view lags, decides nothing', async () => {
    const { address, cursor, txId } = await paid();
    await local.mine(FINAL_BLOCKS);
    local.node.endpoint.view.solid = false;
    await expect(local.open(own).head()).rejects.toThrow(ChainUnavailable);
    // With three providers the two others are enough.
    const found = await local.open(three).scan({ level: 'final', cursor, watch: [address] });
    expect(found.transfers).toMatchObject([{ txId, to: address, amount: 7_000_000n }]);
    local.node.endpoint.view.solid = true;
    local.node.endpoint.view.solidLag = 10;
    const { height, finalHeight } = await local.open(two).head();
    expect(height - finalHeight).toBe(BigInt(FINAL_BLOCKS - 1 + 10));
    const waiting = await local.open(two).scan({ level: 'final', cursor, watch: [address] });
    expect(waiting.transfers).toEqual([]);
    expect(waiting.head.finalHeight).toBe(finalHeight);
  });

  test('K4: a node that answers nothing for a block that has transactions is noticed', async () => {
    const { address, cursor } = await paid();
    await local.mine(FINAL_BLOCKS);
    const silent = lying(own, (method, answer) => (method === INFOS ? [] : answer));
    const query = { level: 'final', cursor, watch: [address] } as const;
    await expect(local.open(silent).scan(query)).rejects.toThrow(/leave out transactions of the final block/);
    const strange = lying(own, (method, answer, [fields]) =>
      method === INFOS && Array.isArray(answer)
        ? answer.map((one) => ({ ...one, blockNumber: Number(Object(fields).num) + 1 }))
        : answer,
    );
    await expect(local.open(strange).scan(query)).rejects.toThrow(/of another block than was asked for/);
    const other = lying(own, (method, answer) =>
      method === INFOS && Array.isArray(answer) ? answer.slice(1) : answer,
    );
    await expect(local.open(other).scan(query)).rejects.toThrow(/leave out transactions of the final block/);
    expect((await local.open(own).scan(query)).transfers).toHaveLength(1);
  });

  test('a block that is too large for one exchange, by what somebody else has logged, is read transaction by transaction', async () => {
    const { address, cursor, txId } = await paid();
    const { chain, endpoint } = local.node;
    const stranger = local.wallet('a stranger');
    // In one block with the payment.
    const [undone] = await chain.fork(1);
    const large = await local.pay([
      { from: local.wallet('a payer'), to: stranger, asset: 'USDT', amount: 1n },
    ]);
    const other = (await chain.fork(1)).find(({ id }) => id === large);
    for (const tx of [undone, other]) if (tx !== undefined) chain.pool.set(tx.id, tx);
    await local.mine(1);
    for (const { view } of [endpoint, ...others]) view.swollen.set(large, 9_000_000);
    const query = (level: 'tip' | 'final') => ({ level, cursor, watch: [address, stranger] }) as const;
    const expected = [
      { txId, amount: 7_000_000n, index: 0 },
      { txId: large, amount: 1n, index: 1 },
    ];
    // An endpoint that gave no answer in time is asked for each block alone at the next reading.
    const reads = (chain: ReturnType<typeof local.open>, level: 'tip' | 'final') =>
      vi.waitFor(async () => expect((await chain.scan(query(level))).transfers).toMatchObject(expected), {
        timeout: 30_000,
        interval: 500,
      });
    await reads(local.open(own), 'tip');
    await local.mine(FINAL_BLOCKS);
    await reads(local.open(own), 'final');
    await reads(local.open(two), 'final');
    // Each of its parts has more time than an exchange usually has.
    endpoint.faults.plan({ how: 'delay', delayMs: 700, times: Number.POSITIVE_INFINITY, method: PART });
    const slow = local.endpoints(local.network, 500);
    await reads(local.open(slow), 'final');
    await slow.close();
    const lacking = lying(own, (method, answer) => (method === PART ? {} : answer));
    await expect(local.open(lacking).scan(query('final'))).rejects.toThrow(/lack a transaction of the block/);
  }, 150_000);

  test('a block that a gateway gives up is read in parts, which go on after a refusal', async () => {
    const { address, cursor, txId } = await paid();
    await local.mine(FINAL_BLOCKS);
    const { faults } = local.node.endpoint;
    const chain = local.open(own, { feed: { refreshMs: 0, keepMs: 600_000 } });
    const scan = () => chain.scan({ level: 'final', cursor, watch: [address] });
    faults.plan({ how: 'down', method: INFOS, times: Number.POSITIVE_INFINITY });
    // From now on each is asked for alone.
    await expect(scan()).rejects.toThrow(/answered 503/);
    faults.plan({ how: 'limit', method: PART });
    await expect(scan()).rejects.toThrow(/limits the rate of calls/);
    expect((await scan()).transfers).toMatchObject([{ txId, amount: 7_000_000n }]);
  });

  test('final blocks that fall to another fork and grow again are not taken from what was kept', async () => {
    const { address, cursor, txId } = await paid();
    await local.mine(FINAL_BLOCKS);
    const chain = local.open(own, { feed: { refreshMs: 0, keepMs: 600_000 } });
    const scan = async () => (await chain.scan({ level: 'final', cursor, watch: [address] })).transfers;
    expect(await scan()).toMatchObject([{ txId }]);
    // Deeper than finality: what was final is below the newest block for a while, and then other blocks are in its place.
    const { number } = local.node.chain.head;
    await local.node.chain.fork(FINAL_BLOCKS + 1);
    expect(await scan()).toEqual([]);
    while (local.node.chain.head.number < number - 1) {
      await local.mine(1);
      expect(await scan()).toEqual([]);
    }
    await local.mine(FINAL_BLOCKS);
    expect(await scan()).toEqual([]);
  });

  test('final blocks come several in an answer, and each alone where nodes do not give several, or leave one out', async () => {
    const { address, cursor, txId } = await paid();
    await local.mine(FINAL_BLOCKS + 20);
    const { view, faults } = local.node.endpoint;
    const scan = async (node: TronNode) => {
      const before = faults.counted();
      const { transfers } = await local.open(node).scan({ level: 'final', cursor, watch: [address] });
      expect(transfers).toMatchObject([{ txId, amount: 7_000_000n }]);
      return faults.counted() - before;
    };
    const calls = await scan(own);
    view.ranges = false;
    // Several are asked for once in vain, and then each block.
    expect(await scan(own)).toBeGreaterThan(calls + 20);
    // Of two providers one may lack the call.
    await scan(two);
    view.ranges = true;
    // A gateway that forbids it is of use for all else.
    faults.plan({ how: 'forbid', method: RUN, times: 1 });
    expect(await scan(own)).toBeGreaterThan(calls + 20);
    const leavingOut = lying(own, (method, answer) =>
      method === RUN ? { block: (answer as { block: unknown[] }).block.slice(1) } : answer,
    );
    expect(await scan(leavingOut)).toBeGreaterThan(calls + 20);
    // Too much for one exchange: halves are asked for.
    let asked = 0;
    const large = lying(own, (method, answer) => {
      if (method !== RUN) return answer;
      asked += 1;
      if ((answer as { block: unknown[] }).block.length > 4)
        throw new ChainUnavailable('trc20', 'too much', new EndpointFailed('too_large', 'too much'));
      return answer;
    });
    await scan(large);
    expect(asked).toBeGreaterThan(6);
  });

  test('quiet looks share one reading of the newest blocks, and what one of them has read of the others', async () => {
    const { address, cursor, txId } = await paid();
    await local.mine(FINAL_BLOCKS + 40);
    const feed = local.feed(own, { refreshMs: 1, relaxedMs: 60_000, keepMs: 600_000 });
    const { faults } = local.node.endpoint;
    const look = async (account: number) => {
      const chain = local.open(own, { account, feed });
      const before = faults.counted();
      const { finalHeight } = await chain.head('relaxed');
      const hashes = await chain.blockHashes([finalHeight], 'relaxed');
      const { transfers } = await chain.scan({
        level: 'final',
        cursor,
        watch: [address],
        freshness: 'relaxed',
      });
      expect(transfers).toMatchObject([{ txId }]);
      return { calls: faults.counted() - before, hashes, finalHeight };
    };
    const first = await look(1);
    await local.mine(1);
    const second = await look(2);
    expect(second).toEqual({ ...first, calls: 0 });
    expect(await local.open(own, { feed }).head()).toMatchObject({ finalHeight: first.finalHeight + 1n });
  });

  test('who reads days of blocks lets the others read theirs in between', async () => {
    const { address, cursor } = await paid();
    await local.mine(FINAL_BLOCKS);
    const feed = { refreshMs: 60_000, keepMs: 600_000 };
    let blocks = 0;
    const counted = lying(own, (method, answer) => {
      if (method === INFOS) blocks += 1;
      return answer;
    });
    const shared = local.feed(counted, feed);
    const days = local.open(counted, { feed: shared });
    const newest = local.open(counted, { account: 2, feed: shared });
    await days.head();
    const long = days.scan({ level: 'final', cursor: null, watch: [address] });
    const short = newest.scan({ level: 'final', cursor, watch: [address] }).then(() => blocks);
    await long;
    // Two turns of the other at most.
    expect(await short).toBeLessThanOrEqual(2 * 16 + FINAL_BLOCKS + 1);
    expect(blocks).toBeGreaterThan(4 * 16);
  });

  test('two nodes agree on what is read, whatever fields and spellings else differ', () => {
    const account = 'ab'.repeat(20);
    const reduce = reducerOf(new Map([[account, 'USDT']]));
    const compared = (call: string, answer: unknown) => comparedText(call, reduce(call, answer));
    const log = {
      address: account,
      topics: [TRANSFER_TOPIC, '0a'.repeat(32), '0b'.repeat(32)],
      data: '0c'.repeat(32),
    };
    const info = {
      id: 'ef'.repeat(32),
      blockNumber: 7,
      blockTimeStamp: 3_000,
      receipt: { result: 'SUCCESS' },
      log: [log],
    };
    const shouting = {
      ...log,
      address: account.toUpperCase(),
      topics: log.topics.map((one) => one.toUpperCase()),
    };
    const same = {
      ...info,
      id: info.id.toUpperCase(),
      fee: 0,
      result: 'SUCESS',
      version: 5,
      receipt: { result: 'SUCCESS', net_usage: 345 },
      log: [{ ...shouting, removed: false }],
    };
    expect(compared(INFOS, [same])).toBe(compared(INFOS, [info]));
    for (const other of [
      { fee: 1 },
      { result: 'FAILED' },
      { receipt: { result: 'REVERT' } },
      { blockNumber: 8 },
      { log: [] },
      { log: [{ ...log, data: '0d'.repeat(32) }] },
      // Of another token, so that the transfer has another place.
      { log: [{ ...log, address: 'cd'.repeat(20) }, log] },
    ])
      expect(compared(INFOS, [{ ...info, ...other }])).not.toBe(compared(INFOS, [info]));
    const call = 'walletsolidity/triggerconstantcontract';
    const answered = {
      result: { result: true },
      constant_result: ['0a'],
      energy_used: 5,
      transaction: { ret: [{}] },
    };
    expect(compared(call, { ...answered, energy_used: 6, logs: [] })).toBe(compared(call, answered));
    expect(compared(call, { ...answered, constant_result: ['0b'] })).not.toBe(compared(call, answered));
    expect(compared(call, { ...answered, result: { result: true, message: '00' } })).not.toBe(
      compared(call, answered),
    );
  });

  test('K2: a call that ran out of time is undone, and what it logged before is no deposit', async () => {
    const { address, cursor } = await paid();
    await local.mine(FINAL_BLOCKS);
    const query = { level: 'final', cursor, watch: [address] } as const;
    const told = (change: object) =>
      local
        .open(
          lying(own, (method, answer) =>
            method === INFOS && Array.isArray(answer) ? answer.map((one) => ({ ...one, ...change })) : answer,
          ),
        )
        .scan(query);
    const undone = { result: 'FAILED', receipt: { result: 'OUT_OF_TIME' } };
    expect((await told(undone)).transfers).toEqual([]);
    await expect(told({ receipt: {} })).rejects.toThrow(/is not clear/);
    await expect(told({ result: 'FAILED' })).rejects.toThrow(/is not clear/);
    expect((await told({ result: 'SUCESS' })).transfers).toHaveLength(1);
  });

  test('what is final is agreed on: of two that differ nothing is known, of three the two count', async () => {
    const { address, cursor, txId } = await paid();
    await local.mine(FINAL_BLOCKS);
    const query = { level: 'final', cursor, watch: [address] } as const;
    const dearer = (answer: unknown) =>
      JSON.parse(JSON.stringify(answer).replaceAll((7_000_000).toString(16), 'ffffff')) as unknown;
    const lied = lying(own, (method, answer) => (method === INFOS ? dearer(answer) : answer));
    // One node alone that is the operator's own is believed, as the operator says.
    expect((await local.open(lied).scan(query)).transfers).toMatchObject([{ amount: 0xffffffn }]);
    local.node.endpoint.faults.plan({ how: 'cut', times: 1, method: INFOS });
    expect((await local.open(three).scan(query)).transfers).toMatchObject([{ txId, amount: 7_000_000n }]);
  });

  test('K1: it is seen in the newest block, keeps its identity when that is replaced, and vanishes where nobody sends it again', async () => {
    const { address, cursor, txId } = await paid();
    const chain = local.open(own);
    const seen = async () =>
      (await chain.scan({ level: 'tip', cursor, watch: [address] })).transfers.map(({ txId: id, index }) => [
        id,
        index,
      ]);
    expect(await seen()).toEqual([[txId, 0]]);
    await local.reorg(2, { remine: true });
    expect(await seen()).toEqual([[txId, 0]]);
    await local.reorg(2);
    expect(await seen()).toEqual([]);
  });

  test('many balances are as of a range of blocks, and one that a token does not tell is no zero', async () => {
    const { address } = await paid(11n);
    let calls = 0;
    const slow = lying(own, (method, answer) => {
      if (method === 'wallet/triggerconstantcontract') calls += 1;
      return answer;
    });
    const chain = local.open({
      ...slow,
      callMany: async (requests) => {
        const answers = await slow.callMany(requests);
        await local.mine(2);
        return answers;
      },
    });
    const { height, upTo, balances } = await chain.balances([address, address], 'USDT', 'tip');
    expect([(upTo ?? 0n) - height, balances.get(address), calls]).toEqual([2n, 11n, 1]);
    const reverting = lying(own, (method, answer) =>
      method.endsWith('triggerconstantcontract')
        ? { ...Object(answer), result: { result: true, message: '5245' } }
        : answer,
    );
    await expect(local.open(reverting).balance(address, 'USDT', 'tip')).rejects.toThrow(/tells no balance/);
  });

  test('addresses: tokens are no recipients, contracts are warned of, and a node that is away warns of nothing', async () => {
    const chain = local.open(own);
    expect(await chain.validateAddress(local.token('USDT'))).toMatchObject({
      ok: false,
      code: 'token_contract',
    });
    const online = () => chain.validateAddress(local.unlisted, { online: true });
    expect(await online()).toMatchObject({ ok: true, warnings: ['contract'] });
    local.node.endpoint.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
    expect(await online()).toMatchObject({ ok: true, warnings: [] });
    expect(await chain.health()).toMatchObject({ ok: false });
  });
});
