import { expect, test } from 'vitest';
import { ChainUnavailable, DEPOSIT_INDEX_MAX } from '../../packages/server/src/chains/port/port.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { approvedGroup } from './conformance-groups.ts';
import { keyOf, Watcher } from './conformance-watcher.ts';
import { nextSigning } from './next-signing.ts';

type GetEnvironment = () => ChainEnvironment;

const UNITS = 1_000_000n;

/** Deposit addresses, and transfers to them. */
export function describeDeposits(get: GetEnvironment): void {
  describeAddresses(get);
  describeArrival(get);
  describeMovedBlocks(get);
  describeHashes(get);
  describeTokens(get);
  describeLeaving(get);
  describeBalances(get);
}

function describeAddresses(get: GetEnvironment): void {
  test('K6: deposit addresses are fixed, valid, distinct and never a wallet that pays out; they need no node', async () => {
    const environment = get();
    const { chain, keyRef, rejecting } = environment;
    await environment.outage(true);
    const numbers = [0, 1, 2, 99, DEPOSIT_INDEX_MAX];
    const deposits = await Promise.all(numbers.map((index) => chain.depositAddress({ index })));
    const again = await Promise.all(numbers.map((index) => chain.depositAddress({ index })));
    const wallets = await chain.unpayableAddresses();
    await environment.outage(false);
    expect(again).toEqual(deposits);
    const addresses = deposits.map(({ address }) => address);
    const others = [
      await chain.sender(keyRef),
      rejecting,
      environment.recipient(0),
      environment.recipient(1),
    ];
    expect(new Set([...addresses, ...others]).size).toBe(numbers.length + others.length);
    // Our own wallets are no deposit addresses, and whoever compares with them has one spelling.
    expect(wallets).toContain(await chain.sender(keyRef));
    expect(wallets.filter((wallet) => addresses.includes(wallet))).toEqual([]);
    for (const wallet of wallets) expect((await chain.validateAddress(wallet)).canonical).toBe(wallet);
    for (const address of addresses) {
      expect(await chain.validateAddress(address)).toMatchObject({ ok: true, canonical: address });
    }
    for (const index of [-1, 0.5, Number.NaN, DEPOSIT_INDEX_MAX + 1]) {
      await expect(chain.depositAddress({ index })).rejects.toThrow(RangeError);
    }
  });
}

function describeArrival(get: GetEnvironment): void {
  test('K1: a transfer is in the tip scan until its block is final, and then in the final scan, once', async () => {
    const environment = get();
    const watcher = await Watcher.open(environment);
    const txId = await watcher.pay(5n * UNITS);
    for (let confirmations = 1; confirmations < environment.finalBlocks; confirmations++) {
      expect(await watcher.readFinal()).toEqual([]);
      const { transfers, complete, head, cursor } = await watcher.readTip();
      expect([complete, cursor]).toEqual([true, watcher.cursor]);
      expect(transfers).toMatchObject([
        { txId, index: 0, asset: 'USDT', from: environment.recipient(7_000), to: watcher.address },
      ]);
      expect(transfers[0]?.amount).toBe(5n * UNITS);
      expect(head.height - (transfers[0]?.height ?? 0n) + 1n).toBe(BigInt(confirmations));
      await environment.mine(1);
    }
    const found = await watcher.readFinal();
    expect(found.map(keyOf)).toEqual([`${txId}:0`]);
    expect(await watcher.seen()).toEqual([]);
    const { time } = await environment.chain.head();
    expect(Math.abs(time - (found[0]?.time ?? 0))).toBeLessThan(3_600);
    await environment.mine(5);
    expect(await watcher.readFinal()).toEqual([]);
  });

  test('K1: a tip scan from the cursor includes the transfers that became final since', async () => {
    const environment = get();
    const watcher = await Watcher.open(environment);
    await watcher.readFinal();
    const txId = await watcher.pay(UNITS);
    await environment.mine(environment.finalBlocks + 2);
    expect(await watcher.seen()).toEqual([`${txId}:0`]);
    expect((await watcher.readFinal()).map(keyOf)).toEqual([`${txId}:0`]);
  });
}

function describeMovedBlocks(get: GetEnvironment): void {
  test('fault 48: a reorganisation removes a transfer from the tip, or moves it under the same id', async () => {
    const environment = get();
    const watcher = await Watcher.open(environment);
    const txId = await watcher.pay(UNITS, 2n * UNITS);
    const keys = [`${txId}:0`, `${txId}:1`];
    const before = await watcher.readTip();
    await environment.mine(1);
    await environment.reorg(2, { remine: true });
    const after = await watcher.readTip();
    expect(after.transfers.map(keyOf)).toEqual(keys);
    expect((after.transfers[0]?.height ?? 0n) > (before.transfers[0]?.height ?? 0n)).toBe(true);
    await environment.reorg(1);
    expect(await watcher.seen()).toEqual([]);
    await environment.mine(environment.finalBlocks);
    expect(await watcher.readFinal()).toEqual([]);
  });

  test('upTo keeps a scan from skipping addresses that are given out meanwhile', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment);
    const { finalHeight } = await chain.head();
    const late = await Watcher.open(environment);
    await late.pay(UNITS);
    await environment.mine(environment.finalBlocks);
    const { cursor } = await chain.scan({
      level: 'final',
      cursor: watcher.cursor,
      watch: [],
      upTo: finalHeight,
    });
    late.cursor = cursor;
    expect(await late.readFinal()).toHaveLength(1);
  });
}

/** What a block is known by, beyond what lies in it. */
function describeHashes(get: GetEnvironment): void {
  test('hashes change from the first replaced block on and nowhere else; blocks that are not final have none', async () => {
    const environment = get();
    const { chain, finalBlocks } = environment;
    await environment.mine(12);
    const { height, finalHeight } = await chain.head();
    const heights = Array.from({ length: 12 }, (_, i) => finalHeight - BigInt(i));
    const before = await chain.blockHashes([...heights, height + 1n]);
    expect(new Set(before.keys())).toEqual(new Set(heights));
    expect(new Set(before.values()).size).toBe(heights.length);
    expect(await chain.blockHashes(heights)).toEqual(before);
    const depth = finalBlocks + 4;
    await environment.reorg(depth, { remine: true });
    await environment.mine(1);
    const after = await chain.blockHashes(heights);
    const changed = heights.filter((one) => after.get(one) !== before.get(one));
    expect(changed.length).toBeGreaterThanOrEqual(1);
    // Blocks come by the clock too: which of them were the newest is known by what changed.
    const lowest = changed.at(-1) ?? 0n;
    expect(changed).toEqual(heights.filter((one) => one >= lowest));
    await environment.reorg(1);
    expect(await chain.blockHashes(heights)).toEqual(after);
  });

  test('a lagging node returns no block that it does not have', async () => {
    const environment = get();
    const { chain } = environment;
    await environment.mine(12);
    const { finalHeight } = await chain.head();
    const before = await chain.blockHashes([finalHeight, finalHeight - 8n]);
    await environment.lag(5);
    expect(await chain.blockHashes([finalHeight, finalHeight - 8n])).toEqual(
      new Map([[finalHeight - 8n, before.get(finalHeight - 8n)]]),
    );
    await environment.lag(0);
    await environment.outage(true);
    await expect(chain.blockHashes([finalHeight])).rejects.toThrow(ChainUnavailable);
    await environment.outage(false);
  });
}

function describeTokens(get: GetEnvironment): void {
  test('K4: several transfers of one transaction: listed, unlisted, to others, and of nothing', async () => {
    const environment = get();
    const watcher = await Watcher.open(environment, 2);
    const [one = '', two = ''] = watcher.addresses;
    const [payer, poisoner] = [environment.recipient(7_001), environment.recipient(7_002)];
    const txId = await environment.pay([
      { from: payer, to: one, asset: 'USDT', amount: 3n * UNITS },
      { from: payer, to: two, asset: 'USDC', amount: 4n * UNITS },
      { from: payer, to: environment.recipient(7_003), asset: 'USDT', amount: 5n * UNITS },
      { from: poisoner, to: one, asset: null, amount: 9_999n * UNITS },
      { from: poisoner, to: one, asset: 'USDT', amount: 0n },
      { from: poisoner, to: two, asset: 'USDT', amount: 1n },
    ]);
    const expected = [
      { txId, index: 0, asset: 'USDT', from: payer, to: one, amount: 3n * UNITS },
      { txId, index: 1, asset: 'USDC', from: payer, to: two, amount: 4n * UNITS },
      { txId, index: 3, asset: null, from: poisoner, to: one, amount: 9_999n * UNITS },
      { txId, index: 5, asset: 'USDT', from: poisoner, to: two, amount: 1n },
    ].filter(({ asset }) => asset !== null || environment.seesUnlisted);
    expect((await watcher.readTip()).transfers).toMatchObject(expected);
    await environment.mine(environment.finalBlocks);
    expect(await watcher.readFinal()).toMatchObject(expected);
    expect(await environment.chain.balance(one, 'USDT', 'final')).toBe(3n * UNITS);
  });

  test('transfers from our own wallet arrive as well', async () => {
    const environment = get();
    const { chain, keyRef, asset } = environment;
    const watcher = await Watcher.open(environment);
    const sequence = await chain.nextSequence(await chain.sender(keyRef));
    const items = [{ itemId: 'to ourselves', place: 0, to: watcher.address, amount: UNITS }];
    const tx = await chain.buildTransfer({
      signing: nextSigning(),
      keyRef,
      ...approvedGroup(asset, items, 'to ourselves'),
      ...(sequence === null ? {} : { sequence }),
    });
    await chain.broadcast(tx);
    expect(await watcher.seen()).toEqual([]);
    await environment.mine(environment.finalBlocks);
    expect(await watcher.readFinal()).toMatchObject([
      { txId: tx.txId, from: tx.sender, to: watcher.address },
    ]);
  });
}

function describeLeaving(get: GetEnvironment): void {
  test('deposits are spent with the key of their address, which has sequences of its own', async () => {
    const environment = get();
    const { chain } = environment;
    const index = 4_711;
    const { address } = await chain.depositAddress({ index });
    const key = `deposit:${index}` as const;
    expect(await chain.sender(key)).toBe(address);
    // Where another wallet sweeps, their own keys send nothing.
    if (chain.capabilities.sweepsPerTx > 0) return;
    await environment.pay([
      { from: environment.recipient(7_010), to: address, asset: 'USDT', amount: 5n * UNITS },
    ]);
    await environment.mine(environment.finalBlocks);
    await environment.endow?.(address);
    const home = await chain.sender('hot');
    const before = await chain.balance(home, 'USDT', 'final');
    for (const amount of [2n * UNITS, 3n * UNITS]) {
      const sequence = await chain.nextSequence(address);
      const tx = await chain.buildTransfer({
        signing: nextSigning(),
        keyRef: key,
        asset: 'USDT',
        groupId: `sweep of ${amount}`,
        items: [{ itemId: `sweep of ${amount}`, place: 0, to: home, amount }],
        ...(sequence === null ? {} : { sequence }),
      });
      expect(tx.sender).toBe(address);
      expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
      await environment.mine(environment.finalBlocks);
      expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
    }
    expect(await chain.balance(address, 'USDT', 'final')).toBe(0n);
    expect(await chain.balance(home, 'USDT', 'final')).toBe(before + 5n * UNITS);
  });
}

function describeBalances(get: GetEnvironment): void {
  test('H1: balances of many addresses are as of one block, and equal each address’s own', async () => {
    const environment = get();
    const { chain } = environment;
    const watcher = await Watcher.open(environment, 20);
    const from = environment.recipient(7_004);
    const pay = (asset: 'USDT' | 'USDC', factor: bigint) =>
      environment.pay(
        watcher.addresses.slice(0, 10).map((to, i) => ({ from, to, asset, amount: BigInt(i + 1) * factor })),
      );
    await pay('USDT', 10n);
    await environment.mine(environment.finalBlocks);
    await pay('USDT', 1n);
    await pay('USDC', 7n);
    for (const at of ['final', 'tip'] as const) {
      const { height, balances } = await chain.balances(watcher.addresses, 'USDT', at);
      const head = await chain.head();
      expect(height).toBe(at === 'final' ? head.finalHeight : head.height);
      expect(balances.size).toBe(10);
      for (const address of watcher.addresses) {
        expect(balances.get(address) ?? 0n).toBe(await chain.balance(address, 'USDT', at));
      }
      const sum = [...balances.values()].reduce((total, balance) => total + balance, 0n);
      expect(sum).toBe(at === 'final' ? 550n : 605n);
    }
    expect((await chain.balances(watcher.addresses, 'USDC', 'final')).balances.size).toBe(0);
    expect((await chain.balances([], 'USDT', 'tip')).balances.size).toBe(0);
  });
}
