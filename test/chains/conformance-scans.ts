import { expect, test } from 'vitest';
import {
  type Chain,
  type ChainTransfer,
  ChainUnavailable,
  type ScanQuery,
  type WatchSet,
} from '../../packages/server/src/chains/port/port.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { approvedGroup } from './conformance-groups.ts';
import { keyOf, Watcher } from './conformance-watcher.ts';
import { nextSigning } from './next-signing.ts';

type GetEnvironment = () => ChainEnvironment;

const UNITS = 1_000_000n;

/** Scans over several pages, and over a node that is unavailable, lags or omits transfers. */
export function describeScans(get: GetEnvironment): void {
  describePages(get);
  describeWatchSets(get);
  describeNodesAway(get);
  describeNodesThatLie(get);
  describeLostLogs(get);
}

function describePages(get: GetEnvironment): void {
  test.each([1, 2, 3, 7])(
    'pages of %s return everything in one order, from the start and from any cursor',
    async (limit) => {
      const environment = get();
      const watcher = await Watcher.open(environment, 3);
      const begin = watcher.cursor;
      const from = environment.recipient(7_005);
      for (const size of [1, 4, 2, 5]) {
        const amounts = Array.from({ length: size }, (_, i) => BigInt(i + 1));
        const to = (i: number) => watcher.addresses[i % 3] ?? '';
        await environment.pay(amounts.map((amount, i) => ({ from, to: to(i), asset: 'USDT', amount })));
        if (size !== 2) await environment.mine(1);
      }
      await environment.mine(environment.finalBlocks);
      const whole = await watcher.readFinal();
      expect(whole).toHaveLength(12);
      expect(new Set(whole.map(keyOf)).size).toBe(12);
      expect(whole.every(({ height }, i) => i === 0 || (whole[i - 1]?.height ?? 0n) <= height)).toBe(true);
      watcher.cursor = begin;
      expect(await watcher.readFinal(limit)).toEqual(whole);
      const middle = whole[5]?.height ?? 0n;
      watcher.cursor = await environment.chain.cursorAt(middle - 1n);
      expect(await watcher.readFinal(limit)).toEqual(whole.filter(({ height }) => height >= middle));
      watcher.cursor = await environment.chain.cursorAt(middle);
      expect(await watcher.readFinal(limit)).toEqual(whole.filter(({ height }) => height > middle));
    },
  );

  test('a tip that is too large for one answer is incomplete, and is read with fewer addresses', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment);
    await watcher.pay(1n, 2n, 3n);
    const query = { level: 'tip', cursor: watcher.cursor, watch: watcher.addresses } as const;
    const part = await chain.scan({ ...query, limit: 2 });
    expect([part.transfers.length, part.complete, part.cursor]).toEqual([2, false, watcher.cursor]);
    expect(await chain.scan({ ...query, limit: 3 })).toMatchObject({ complete: true });
  });

  test('a null cursor is the beginning; an invalid one is refused', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment);
    await watcher.pay(UNITS);
    await environment.mine(environment.finalBlocks);
    const watch = watcher.addresses;
    expect((await chain.scan({ level: 'final', cursor: null, watch })).transfers).toHaveLength(1);
    expect((await chain.scan({ level: 'tip', cursor: null, watch })).transfers).toHaveLength(0);
    for (const cursor of ['', 'x', '1.2.3', ' ', '٣.1']) {
      await expect(chain.scan({ level: 'final', cursor, watch })).rejects.toThrow(RangeError);
      await expect(chain.scan({ level: 'tip', cursor, watch })).rejects.toThrow(RangeError);
    }
    await expect(chain.scan({ level: 'final', cursor: null, watch, limit: 0 })).rejects.toThrow(RangeError);
  });
}

function describeWatchSets(get: GetEnvironment): void {
  test('a WatchSet returns the same transfers as a list of its addresses, and no others', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment, 2);
    const [own = '', other = ''] = watcher.addresses;
    const from = environment.recipient(7_007);
    const begin = watcher.cursor;
    const pay = (to: string, amount: bigint) => ({ from, to, asset: 'USDT', amount }) as const;
    await environment.pay([pay(other, 1n), pay(own, 2n), pay(environment.recipient(7_008), 3n)]);
    await environment.mine(environment.finalBlocks);
    await environment.pay([pay(other, 4n), pay(own, 5n)]);
    const watch: WatchSet = {
      among: async (candidates) => new Set(candidates.filter((candidate) => candidate === own)),
      each: async () => [own],
    };
    for (const cursor of [begin, null]) {
      for (const level of ['final', 'tip'] as const) {
        const asked = await readOn(chain, { level, cursor, watch });
        const listed = await readOn(chain, { level, cursor, watch: [own] });
        expect(asked.map(({ amount }) => amount)).toEqual(listed.map(({ amount }) => amount));
        expect(asked.every(({ to }) => to === own)).toBe(true);
      }
    }
    const tip = await readOn(chain, { level: 'tip', cursor: begin, watch });
    expect(tip.map(({ amount }) => amount)).toEqual([2n, 5n]);
    const paged = await readOn(chain, { level: 'final', cursor: begin, watch, limit: 1 });
    expect(paged.map(({ amount }) => amount)).toEqual([2n]);
  });
}

function describeNodesAway(get: GetEnvironment): void {
  test('fault 45: an outage throws, and no transfer is missing afterwards', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment);
    const txId = await watcher.pay(UNITS);
    await environment.outage(true);
    await environment.mine(environment.finalBlocks);
    const calls = [watcher.readFinal(), watcher.readTip(), chain.balances([], 'USDT', 'final')];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ChainUnavailable) });
    }
    expect(await chain.cursorAt(5n)).toBe(await chain.cursorAt(5n));
    await environment.outage(false);
    expect((await watcher.readFinal()).map(keyOf)).toEqual([`${txId}:0`]);
  });

  test('fault 47: a head that goes back moves no cursor back; a node that jumps skips nothing', async () => {
    const environment = get();
    const { chain, finalBlocks } = environment;
    const watcher = await Watcher.open(environment);
    const first = await watcher.pay(UNITS);
    await environment.mine(finalBlocks);
    await watcher.readFinal();
    const second = await watcher.pay(UNITS);
    const { height } = await chain.head();
    const { cursor } = watcher;
    await environment.lag(50);
    expect((await chain.head()).height).toBe(height - 50n);
    expect((await chain.health()).height).toBe(height - 50n);
    expect(await watcher.readFinal()).toEqual([]);
    expect(watcher.cursor).toBe(cursor);
    const tip = await watcher.readTip();
    expect([tip.transfers, tip.head.height]).toEqual([[], height - 50n]);
    expect(await chain.balance(watcher.address, 'USDT', 'tip')).toBe(0n);
    await environment.mine(50);
    expect(await watcher.seen()).toEqual([`${second}:0`]);
    await environment.lag(0);
    expect(await chain.head()).toMatchObject({ height: height + 50n });
    await watcher.readFinal();
    expect(watcher.final.map(keyOf)).toEqual([`${first}:0`, `${second}:0`]);
  });
}

function describeNodesThatLie(get: GetEnvironment): void {
  test('J7: a lagging node reports a mined transaction as pending', async () => {
    const environment = get();
    const { chain, keyRef, asset, finalBlocks } = environment;
    const sender = await chain.sender(keyRef);
    const sequence = await chain.nextSequence(sender);
    const items = [{ itemId: 'lagging', place: 0, to: environment.recipient(7_006), amount: UNITS }];
    const own = sequence === null ? {} : { sequence };
    const tx = await chain.buildTransfer({
      signing: nextSigning(),
      keyRef,
      ...approvedGroup(asset, items, 'lagging'),
      ...own,
    });
    await chain.broadcast(tx);
    await environment.mine(finalBlocks);
    await environment.lag(finalBlocks);
    expect(await chain.status(tx)).toEqual({ state: 'pending', final: false });
    expect(await chain.nextSequence(sender)).toBe(sequence);
    await environment.lag(0);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', final: true });
  });
}

function describeLostLogs(get: GetEnvironment): void {
  test('K5: a log that the node omitted shows in the balance and is found by a rescan', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment);
    const begin = watcher.cursor;
    const txId = await watcher.pay(UNITS, 2n * UNITS);
    await environment.loseLog('tip');
    expect(await watcher.seen()).toHaveLength(1);
    expect(await watcher.seen()).toHaveLength(2);
    await environment.mine(environment.finalBlocks);
    await environment.loseLog('final');
    const found = await watcher.readFinal();
    expect(found).toHaveLength(1);
    expect(await watcher.readFinal()).toEqual([]);
    const { balances } = await chain.balances(watcher.addresses, 'USDT', 'final');
    expect(balances.get(watcher.address)).toBe(3n * UNITS);
    watcher.cursor = begin;
    expect((await watcher.readFinal()).map(keyOf)).toEqual([`${txId}:0`, `${txId}:1`]);
  });
}

/** A `final` scan is read on to its end. */
async function readOn(chain: Chain, query: ScanQuery): Promise<ChainTransfer[]> {
  const { transfers, cursor, complete } = await chain.scan(query);
  if (complete || query.level === 'tip') return transfers;
  return [...transfers, ...(await readOn(chain, { ...query, cursor }))];
}
