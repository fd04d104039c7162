import { toHex } from 'viem';
import { expect, test } from 'vitest';
import { TestUSDT } from '../../../contracts/artifacts/index.ts';
import { by, mined, OWNER, PAYER } from '../../../scripts/local-chain.ts';
import type { EvmTransfer } from './environment.ts';
import { FINAL_BLOCKS } from './environment.ts';
import { describeOnAnvil, fresh, here, keyOf, readFinal, transferTo } from './reading.ts';

const UNITS = 1_000_000n;

describeOnAnvil('reading', (get) => {
  const payer = () => get().recipient(7_000);
  const transfer = (to: string, amount: bigint, asset: EvmTransfer['asset'] = 'USDT') =>
    transferTo(get(), { to, amount, asset });

  test('K1: a transfer is at the tip until its block is final, then in the final scan, once, by its place in its transaction', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    // Logs of another transaction stand before it in no block, but two of its own do.
    const txId = await get().pay([
      transfer(get().recipient(1), 1n),
      transfer(get().recipient(2), 2n, 'USDC'),
      transfer(address, 5n * UNITS),
      transfer(address, 6n * UNITS, 'USDC'),
    ]);
    const expected = [
      { txId, index: 2, asset: 'USDT', from: payer(), to: address, amount: 5n * UNITS },
      { txId, index: 3, asset: 'USDC', from: payer(), to: address, amount: 6n * UNITS },
    ];
    for (let confirmations = 1; confirmations < FINAL_BLOCKS; confirmations++) {
      const tip = await reader.scan({ level: 'tip', cursor: begin, watch: [address] });
      expect(tip).toMatchObject({ transfers: expected, complete: true, cursor: begin });
      expect(tip.head.height - (tip.transfers[0]?.height ?? 0n) + 1n).toBe(BigInt(confirmations));
      expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toEqual([]);
      await get().mine(1);
    }
    const { found, cursor } = await readFinal(reader, { cursor: begin, watch: [address] });
    expect(found).toMatchObject(expected);
    expect((await readFinal(reader, { cursor: cursor, watch: [address] })).found).toEqual([]);
    const block = await get().client.getBlock({ blockNumber: found[0]?.height ?? 0n });
    expect(found[0]?.time).toBe(Number(block.timestamp));
  });

  test('fault 48: a reorganisation moves a transfer under the same id, or takes it away', async () => {
    const { reader } = get().open([0], { refreshMs: 0, keepMs: 600_000 });
    const address = await fresh(reader);
    const begin = await here(reader);
    const tip = () => reader.scan({ level: 'tip', cursor: begin, watch: [address] });
    const txId = await get().pay([transfer(get().recipient(1), 1n), transfer(address, UNITS)]);
    const before = await tip();
    await get().mine(1);
    await get().reorg(2, { remine: true });
    const after = await tip();
    expect(after.transfers.map(keyOf)).toEqual([`${txId}:1`]);
    expect(after.transfers[0]?.height).toBe((before.transfers[0]?.height ?? 0n) + 1n);
    await get().reorg(1);
    expect((await tip()).transfers).toEqual([]);
    await get().mine(FINAL_BLOCKS);
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toEqual([]);
  });

  test('fault 48: below finality the hashes change, and what was kept of those blocks is forgotten', async () => {
    const { reader } = get().open([0], { refreshMs: 0, keepMs: 600_000 });
    const address = await fresh(reader);
    const begin = await here(reader);
    await get().pay([transfer(address, UNITS)]);
    await get().mine(FINAL_BLOCKS + 1);
    const { found } = await readFinal(reader, { cursor: begin, watch: [address] });
    expect(found).toHaveLength(1);
    const { finalHeight } = await reader.head();
    const heights = [finalHeight, finalHeight - 1n, finalHeight - 2n, finalHeight - 20n, finalHeight + 1n];
    const before = await reader.blockHashes(heights);
    expect(new Set(before.keys())).toEqual(new Set(heights.slice(0, 4)));
    await get().reorg(FINAL_BLOCKS + 2);
    await get().mine(1);
    const after = await reader.blockHashes(heights);
    expect(after.get(finalHeight - 20n)).toBe(before.get(finalHeight - 20n));
    expect(after.get(finalHeight - 1n)).not.toBe(before.get(finalHeight - 1n));
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toEqual([]);
  });

  test('fault 48: what was kept is forgotten also where a block could not be read just before', async () => {
    const { reader } = get().open([0], { refreshMs: 0, keepMs: 600_000 });
    const address = await fresh(reader);
    const begin = await here(reader);
    await get().pay([transfer(address, UNITS)]);
    await get().mine(FINAL_BLOCKS + 1);
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toHaveLength(1);
    const { finalHeight } = await reader.head();
    const before = await reader.blockHashes([finalHeight]);
    await get().mine(1);
    get().node(0).refuse = ({ method }) =>
      method === 'eth_getLogs' ? { code: -32_000, message: 'unknown block' } : undefined;
    await expect(reader.scan({ level: 'tip', cursor: begin, watch: [address] })).rejects.toThrow(
      'unknown block',
    );
    get().node(0).behave();
    await get().reorg(FINAL_BLOCKS + 3);
    expect(await reader.blockHashes([finalHeight])).not.toEqual(before);
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toEqual([]);
  });

  test('fault 48: a header that comes after its block was replaced is not kept', async () => {
    const { reader } = get().open([0], { refreshMs: 0, keepMs: 600_000 });
    await get().mine(FINAL_BLOCKS + 1);
    const { finalHeight } = await reader.head();
    const height = finalHeight - 1n;
    const [isAsked, asked] = signal();
    const [isReplaced, replaced] = signal();
    get().node(0).lie = async ({ params }) => {
      if (params[0] !== toHex(height)) return undefined;
      get().node(0).lie = undefined;
      asked();
      await isReplaced;
      return undefined;
    };
    const late = reader.blockHashes([height]);
    await isAsked;
    await get().reorg(FINAL_BLOCKS + 2);
    await reader.head();
    replaced();
    const now = await reader.blockHashes([height]);
    expect(now.get(height)).toEqual((await get().client.getBlock({ blockNumber: height })).hash);
    expect(await late).not.toEqual(now);
    expect(await reader.blockHashes([height])).toEqual(now);
  });

  test('fault 48: also where the chain is shorter than what was final before, once or for a while', async () => {
    const { reader } = get().open([0], { refreshMs: 0, keepMs: 600_000 });
    const address = await fresh(reader);
    const begin = await here(reader);
    await get().pay([transfer(address, UNITS)]);
    await get().mine(FINAL_BLOCKS + 1);
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toHaveLength(1);
    const { finalHeight } = await reader.head();
    const before = await reader.blockHashes([finalHeight]);
    await get().cutOff(2 * FINAL_BLOCKS);
    // What the chain no longer has is unknown, as where a node lags.
    expect([...(await reader.blockHashes([finalHeight])).keys()]).toEqual([]);
    expect((await reader.head()).finalHeight).toBeLessThan(finalHeight);
    await get().mine(3 * FINAL_BLOCKS);
    const after = await reader.blockHashes([finalHeight]);
    expect(after.get(finalHeight)).toEqual(expect.any(String));
    expect(after.get(finalHeight)).not.toBe(before.get(finalHeight));
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toEqual([]);
  });

  test('fault 48: a final block is gone where the chain ends further below it than any lagging node', async () => {
    const { reader } = get().open([0], { refreshMs: 600_000, keepMs: 600_000 });
    const { height, finalHeight } = await reader.head();
    const there = await reader.blockHashes([finalHeight]);
    expect(there.get(finalHeight)).toEqual(expect.any(String));
    await get().mine(70);
    // Another process has seen more than what this one has read: a new look at the chain decides.
    expect(await reader.blockHashes([height + 68n])).toEqual(new Map([[height + 68n, expect.any(String)]]));
    await get().cutOff(70);
    expect(
      await get()
        .open()
        .reader.blockHashes([finalHeight, height + 64n, height + 65n]),
    ).toEqual(new Map([...there, [height + 65n, null]]));
  });

  test('fault 47: what was read is kept while another endpoint, which lags, answers', async () => {
    const { reader } = get().open([0, 1, 2], { refreshMs: 0, keepMs: 600_000 });
    const address = await fresh(reader);
    const begin = await here(reader);
    await get().pay([transfer(address, UNITS)]);
    await get().mine(FINAL_BLOCKS + 1);
    const scan = () => reader.scan({ level: 'final', cursor: begin, watch: [address] });
    const { transfers } = await scan();
    expect(transfers).toHaveLength(1);
    for (const node of get().nodes) node.forget();
    for (const place of [0, 1, 2]) get().node(place).lag = 2;
    await scan();
    for (const node of get().nodes) node.behave();
    expect((await scan()).transfers).toEqual(transfers);
    expect(get().nodes.map((node) => node.counted('eth_getLogs'))).toEqual([0, 0, 0]);
  });

  test('K2: three rescans of all blocks, in pages of any size, find each transfer once and in one order', async () => {
    const { reader } = get().open();
    const addresses = [await fresh(reader), await fresh(reader), await fresh(reader)];
    const begin = await here(reader);
    for (const size of [1, 4, 2, 5]) {
      await get().pay(
        Array.from({ length: size }, (_, i) => transfer(addresses[i % 3] ?? '', BigInt(i + 1))),
      );
      if (size !== 2) await get().mine(1);
    }
    await get().mine(FINAL_BLOCKS);
    const { found } = await readFinal(reader, { cursor: begin, watch: addresses });
    expect(new Set(found.map(keyOf)).size).toBe(12);
    for (const limit of [1, 2, 3, 7])
      expect((await readFinal(reader, { cursor: begin, watch: addresses, limit: limit })).found).toEqual(
        found,
      );
    for (let i = 0; i < 3; i++)
      expect((await readFinal(reader, { cursor: null, watch: addresses })).found).toEqual(found);
    const middle = found[5]?.height ?? 0n;
    const rest = await readFinal(reader, {
      cursor: await reader.cursorAt(middle - 1n),
      watch: addresses,
      limit: 2,
    });
    expect(rest.found).toEqual(found.filter(({ height }) => height >= middle));
  });

  test('K4, fault 66: fake tokens, transfers of nothing and the native coin are not seen', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    const txId = await get().pay([
      transfer(address, 9_999n * UNITS, null),
      transfer(address, 0n),
      transfer(address, 0n, 'USDC'),
      transfer(address, 1n),
    ]);
    await mined(
      get().client,
      get().client.sendTransaction({ ...by(PAYER), to: address as `0x${string}`, value: 10n ** 18n }),
    );
    await get().mine(FINAL_BLOCKS);
    const { found } = await readFinal(reader, { cursor: begin, watch: [address] });
    expect(found).toMatchObject([{ txId, index: 3, asset: 'USDT', amount: 1n }]);
    expect(found).toHaveLength(1);
    const { balances } = await reader.balances([address], 'USDT', 'final');
    expect(balances.get(address)).toBe(1n);
  });

  test('a fee of USDT is not credited: what arrived is', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    const usdt = { ...by(OWNER), address: get().token('USDT'), abi: TestUSDT.abi } as const;
    const { client } = get();
    await mined(client, client.writeContract({ ...usdt, functionName: 'setParams', args: [10n, 40n] }));
    await get().pay([transfer(address, UNITS)]);
    await mined(client, client.writeContract({ ...usdt, functionName: 'setParams', args: [0n, 0n] }));
    await get().mine(FINAL_BLOCKS);
    const { found } = await readFinal(reader, { cursor: begin, watch: [address] });
    const { balances } = await reader.balances([address], 'USDT', 'final');
    expect(found[0]?.amount).toBeLessThan(UNITS);
    expect(found.map(({ amount }) => amount)).toEqual([balances.get(address)]);
    // The fee's own log comes first.
    expect(found[0]?.index).toBe(1);
  });

  test('H1: balances of many addresses are as of one block and those of the token', async () => {
    const { reader } = get().open();
    const addresses = await Promise.all(Array.from({ length: 450 }, () => fresh(reader)));
    const rich = addresses.filter((_, i) => i % 3 === 0);
    await get().pay(rich.map((address, i) => transfer(address, BigInt(i + 1))));
    await get().mine(FINAL_BLOCKS);
    await get().pay([transfer(addresses[0] ?? '', 1_000n), transfer(addresses[0] ?? '', 3n, 'USDC')]);
    const head = await reader.head();
    const final = await reader.balances(addresses, 'USDT', 'final');
    expect(final.height).toBe(head.finalHeight);
    expect(final.balances).toEqual(new Map(rich.map((address, i) => [address, BigInt(i + 1)])));
    const tip = await reader.balances(addresses, 'USDT', 'tip');
    expect([tip.height, tip.balances.get(addresses[0] ?? '')]).toEqual([head.height, 1_001n]);
    expect((await reader.balances(addresses, 'USDC', 'tip')).balances).toEqual(new Map([[addresses[0], 3n]]));
    get().node(0).forget();
    await reader.balances(addresses, 'USDT', 'tip');
    expect(get().node(0).counted('eth_call')).toBe(3);
  });

  test('sequences count what is in blocks; addresses need no node; contracts are told apart', async () => {
    const { reader, addresses } = get().open();
    const count = await get().client.getTransactionCount({ address: PAYER.address });
    expect(await reader.nextSequence(PAYER.address)).toBe(String(count));
    get().node(0).manner = 'cut';
    expect(await reader.sender('hot')).toBe(addresses.hot);
    expect(await reader.sender('deposit:3')).toBe((await reader.depositAddress({ index: 3 })).address);
    const { batchPayout, sweeper, collector, tokens } = get().network;
    const contracts = [batchPayout, sweeper, collector, tokens.USDT?.address, tokens.USDC?.address];
    expect(new Set(await reader.unpayableAddresses())).toEqual(
      new Set([addresses.hot, await reader.sender('tank'), ...contracts.filter((one) => one != null)]),
    );
    expect(await reader.validateAddress(get().token('USDT'))).toMatchObject({
      ok: false,
      code: 'token_contract',
    });
    expect(await reader.validateAddress(batchPayout ?? '')).toMatchObject({ ok: false, code: 'program' });
    expect(await reader.validateAddress(get().fakeToken, { online: true })).toMatchObject({
      ok: true,
      warnings: [],
    });
    get().node(0).manner = undefined;
    const online = (address: string) => reader.validateAddress(address, { online: true });
    expect(await online(get().fakeToken)).toMatchObject({ ok: true, warnings: ['contract'] });
    const delegated = get().recipient(8_000) as `0x${string}`;
    await get().client.setCode({ address: delegated, bytecode: `0xef0100${'12'.repeat(20)}` });
    expect((await online(delegated)).warnings).not.toContain('contract');
  });

  test('cursors of another network, and limits that are none, are refused', async () => {
    const { reader } = get().open();
    for (const level of ['final', 'tip'] as const) {
      for (const cursor of ['', 'x', '1.2.3', ' ', '٣.1', '01', '1.', '-2'])
        await expect(reader.scan({ level, cursor, watch: [] })).rejects.toThrow(RangeError);
      for (const limit of [0, -1, 0.5])
        await expect(reader.scan({ level, cursor: '1', watch: [], limit })).rejects.toThrow(RangeError);
    }
  });
});

/** What waits, and what ends the wait. */
function signal(): [Promise<void>, () => void] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [promise, resolve];
}
