import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestChain, type TestChain, type TestOrder } from '../../../../../test/chains/open-test-chain.ts';
import { Fail } from '../../platform/fail.ts';
import { ChainUnavailable, type SignedTx } from '../port/port.ts';
import type { NodeFault } from './node-faults.ts';
import type { SimulatedChain } from './simulated-chain.ts';

const UNITS = 1_000_000n;

/** One merchant's chain for each test, in a database that the file's tests share. */
const base = new Map<Network, TestChain>();
let fresh: TestChain;

beforeAll(async () => {
  for (const network of NETWORKS) base.set(network, await openTestChain(network));
});
afterAll(() => Promise.all([...base.values()].map((chain) => chain.close())));

async function start(network: Network): Promise<SimulatedChain> {
  const opened = base.get(network);
  if (opened === undefined) throw new Error(`no ${network} chain is open`);
  fresh = opened.openSibling();
  await fresh.chain.fund('USDT', 1_000n * UNITS);
  return fresh.chain;
}

const build = (order?: TestOrder) => fresh.build(order);
const send = (order?: TestOrder) => fresh.send(order);
const recipient = (number: number) => fresh.recipient(number);
const stateOf = async (tx: SignedTx) => (await fresh.chain.status(tx)).state;

describe('trouble', () => {
  test.each<{ fault: NodeFault; hears: object | 'nothing'; lands: boolean }>([
    { fault: 'drop', hears: { result: 'accepted' }, lands: false },
    { fault: 'accept_then_timeout', hears: 'nothing', lands: true },
    { fault: 'timeout_dropped', hears: 'nothing', lands: false },
    { fault: 'say_expired', hears: { code: 'transaction_expired', retryable: false }, lands: true },
    { fault: 'say_nonce_too_low', hears: { code: 'nonce_too_low', retryable: false }, lands: true },
    { fault: 'say_already_known', hears: { result: 'known' }, lands: true },
    { fault: 'unknown_code', hears: { result: 'rejected', code: '-32099' }, lands: false },
    { fault: 'garbage', hears: 'nothing', lands: true },
  ])('J2: $fault: the answer proves nothing, the chain does', async ({ fault, hears, lands }) => {
    await start('trc20');
    await fresh.chain.injectFaults(fault);
    const tx = await build();
    const heard = await fresh.chain.broadcast(tx).catch((error: unknown) => error);
    if (hears === 'nothing') expect(heard).toBeInstanceOf(ChainUnavailable);
    else expect(heard).toMatchObject(hears);
    expect(await stateOf(tx)).toBe(lands ? 'pending' : 'unknown');
    expect(await fresh.chain.broadcast(tx)).toMatchObject({ result: lands ? 'known' : 'accepted' });
    await fresh.chain.mine(1);
    expect(await fresh.chain.balance(recipient(1), 'USDT', 'tip')).toBe(UNITS);
  });

  test('faults are used up one by one, dropNext first', async () => {
    await start('trc20');
    await fresh.chain.injectFaults('say_expired', 'say_already_known');
    await fresh.chain.dropNext(2);
    const results: string[] = [];
    for (const itemId of ['a', 'b', 'c', 'd', 'e']) {
      results.push((await fresh.chain.broadcast(await build({ itemIds: [itemId] }))).result);
    }
    expect(results).toEqual(['accepted', 'accepted', 'rejected', 'known', 'accepted']);
    await fresh.chain.mine(1);
    expect(await fresh.chain.balance(recipient(1), 'USDT', 'tip')).toBe(3n * UNITS);
  });

  test('an outage hides the chain for its seconds, and blocks go on', async () => {
    const chain = await start('erc20');
    const tx = await send();
    const { height } = await chain.head();
    await chain.outage(30);
    fresh.time.now += 29;
    const calls = [
      chain.head(),
      chain.broadcast(tx),
      chain.status(tx),
      chain.balance(tx.sender, 'USDT', 'tip'),
      chain.nextSequence(tx.sender),
      chain.estimateFee('transfer', 1),
      build(),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ChainUnavailable) });
    }
    expect(await chain.health()).toMatchObject({ ok: false });
    expect(await chain.sender('hot')).toBe(tx.sender);
    expect((await chain.validateAddress(tx.sender)).ok).toBe(true);
    expect((await chain.transfers()).data[0]).toMatchObject({ txId: tx.txId, final: true });
    fresh.time.now += 1;
    expect(await chain.head()).toMatchObject({ height: height + 30n });
    expect(await stateOf(tx)).toBe('final');
  });

  test('while the database is away, the chain is unavailable', async () => {
    const chain = await start('erc20');
    const away = fresh.openAt('postgres://127.0.0.1:1/none');
    await expect(away.head()).rejects.toThrow(ChainUnavailable);
    await expect(away.broadcast(await build())).rejects.toThrow(ChainUnavailable);
    expect((await chain.health()).ok).toBe(true);
  });
});

describe('reorganisation', () => {
  test.each([false, true])(
    'payers’ transfers vanish, or move to the newest block (remine: %s)',
    async (remine) => {
      const chain = await start('erc20');
      const from = recipient(50);
      const hot = await chain.hotAddress();
      await chain.pay({ transfers: [{ from, to: hot, asset: 'USDT', amount: 7n * UNITS }] });
      await chain.mine(1);
      const ours = await send({ itemIds: ['a', 'b'] });
      await chain.mine(1);
      const before = await chain.head();
      expect(await chain.balance(hot, 'USDT', 'tip')).toBe(1_005n * UNITS);
      expect(await chain.balance(hot, 'USDT', 'final')).toBe(1_007n * UNITS);
      expect(await chain.reorg(3, { remine })).toEqual(before);
      expect(await stateOf(ours)).toBe('unknown');
      expect(await chain.balance(hot, 'USDT', 'tip')).toBe((remine ? 1_007n : 1_000n) * UNITS);
      expect(await chain.balance(recipient(1), 'USDT', 'tip')).toBe(0n);
      const { data } = await chain.transfers({ address: from });
      expect(data.map((transfer) => transfer.height)).toEqual(remine ? [before.height] : []);
      expect(await chain.broadcast(ours)).toMatchObject({ result: 'accepted' });
      await chain.mine(3);
      expect(await chain.status(ours)).toMatchObject({ state: 'final', itemOk: [true, true] });
    },
  );

  test.each([1, 2, 3, 6, 12])(
    'J5: depth %s: transactions of replaced blocks are mined again, the others stay',
    async (depth) => {
      const chain = await start('erc20');
      const sent: SignedTx[] = [];
      for (let sequence = 0; sequence < 12; sequence++) {
        sent.push(await send({ itemIds: [`item-${sequence}`], sequence }));
        await chain.mine(1);
      }
      await chain.reorg(depth);
      const states = await Promise.all(sent.map(stateOf));
      const lost = sent.filter((_, i) => states[i] === 'unknown');
      expect(lost).toEqual(sent.slice(-depth));
      expect(await chain.balance(recipient(1), 'USDT', 'tip')).toBe(BigInt(12 - depth) * UNITS);
      for (const tx of lost.toReversed())
        expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
      await chain.mine(3);
      expect(new Set(await Promise.all(sent.map(stateOf)))).toEqual(new Set(['final']));
      expect(await chain.balance(recipient(1), 'USDT', 'final')).toBe(12n * UNITS);
    },
  );

  test('a reorganisation deeper than the chain replaces all of it', async () => {
    const chain = await start('spl');
    const tx = await send();
    await chain.mine(5);
    await chain.reorg(1_000_000);
    expect(await stateOf(tx)).toBe('unknown');
    expect(await chain.balance(tx.sender, 'USDT', 'tip')).toBe(0n);
    expect((await chain.transfers()).data).toEqual([]);
  });
});

describe('transfers', () => {
  test('newest first, by pages, of all or of one address', async () => {
    const chain = await start('erc20');
    await send({ itemIds: ['a', 'b', 'c'] });
    await chain.mine(1);
    await send({ itemIds: ['d'], to: recipient(2), sequence: 1 });
    await chain.mine(1);
    const all = await chain.transfers();
    expect(all.hasMore).toBe(false);
    expect(all.data).toHaveLength(5);
    expect(all.data[0]).toMatchObject({ to: recipient(2), index: 0, amount: UNITS, final: false });
    const first = await chain.transfers({ limit: 2 });
    const last = first.data[1]?.id ?? '';
    expect([first.data, first.hasMore]).toEqual([all.data.slice(0, 2), true]);
    expect(await chain.transfers({ limit: 3, after: last })).toEqual({
      data: all.data.slice(2),
      hasMore: false,
    });
    const ours = await chain.transfers({ address: recipient(1), limit: 2 });
    expect([ours.data.map((t) => t.index), ours.hasMore]).toEqual([[2, 1], true]);
    const hot = await chain.transfers({ address: await chain.hotAddress() });
    expect(hot.data).toEqual(all.data);
    expect((await chain.transfers({ address: recipient(99) })).data).toEqual([]);
  });

  test('an id of no transfer of this chain is refused', async () => {
    const chain = await start('erc20');
    for (const after of ['', 'x', 'x:0', '0x00:99999999999999']) {
      await expect(chain.transfers({ after })).rejects.toThrow(Fail);
    }
  });
});

describe('two processes', () => {
  test.each(NETWORKS)('%s: the same bytes from both are accepted once', async (network) => {
    const chain = await start(network);
    const twin = fresh.openTwin();
    const txs: SignedTx[] = [];
    for (let i = 0; i < 10; i++) txs.push(await build({ itemIds: [`item-${i}`], sequence: i }));
    const answers = await Promise.all(txs.flatMap((tx) => [chain.broadcast(tx), twin.broadcast(tx)]));
    expect(answers.filter(({ result }) => result === 'accepted')).toHaveLength(10);
    expect(answers.filter(({ result }) => result === 'known')).toHaveLength(10);
    fresh.time.now += 1;
    const looks = await Promise.all(txs.flatMap((tx) => [chain.status(tx), twin.status(tx), twin.mine(1)]));
    expect(looks).toHaveLength(30);
    expect(await chain.balance(recipient(1), 'USDT', 'tip')).toBe(10n * UNITS);
    expect((await chain.transfers({ limit: 100 })).data).toHaveLength(11);
  });

  test('both insert the first row of a chain', async () => {
    await start('erc20');
    const { chain, openTwin } = fresh.openSibling();
    const twin = openTwin();
    await Promise.all([chain.head(), twin.head(), twin.mine(1), chain.mine(1)]);
    expect(await chain.head()).toEqual(await twin.head());
  });
});
