import { expect, test } from 'vitest';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port-errors.ts';
import type { EvmTransfer } from './environment.ts';
import { FINAL_BLOCKS } from './environment.ts';
import { describeOnAnvil, fresh, here, keyOf, readFinal, transferTo } from './reading.ts';

const UNLISTED = `0x${'ab'.repeat(32)}`;
const UNITS = 1_000_000n;

describeOnAnvil('reading by nodes that fail or lie', (get) => {
  const transfer = (to: string, amount: bigint, asset: EvmTransfer['asset'] = 'USDT') =>
    transferTo(get(), { to, amount, asset });

  test('J7, fault 46: what one of three endpoints invents, changes or hides decides nothing', async () => {
    const places = [0, 1, 2];
    const { reader: honest } = get().open();
    const address = await fresh(honest);
    const begin = await here(honest);
    await get().pay([transfer(address, 7n * UNITS)]);
    await get().mine(FINAL_BLOCKS);
    const { found: truth } = await readFinal(honest, { cursor: begin, watch: [address] });
    const inventions: ((logs: object[]) => object[])[] = [
      (logs) => logs.map((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })),
      (logs) => [...logs, ...logs.map((log) => ({ ...log, logIndex: '0x7', transactionHash: UNLISTED }))],
      () => [],
    ];
    for (const liar of places) {
      for (const invent of inventions) {
        get().node(liar).lie = ({ method }, result) =>
          method === 'eth_getLogs' ? invent(result as object[]) : undefined;
        const { reader } = get().open(places);
        expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toEqual(truth);
        // Of two, nobody is believed.
        const { reader: unsure } = get().open([liar, (liar + 1) % 3]);
        await expect(unsure.scan({ level: 'final', cursor: begin, watch: [address] })).rejects.toThrow(
          ChainUnavailable,
        );
      }
      get().node(liar).lie = undefined;
    }
  });

  test('J7: a transfer at the tip that one endpoint invented is shown at most, and never credited early', async () => {
    const { reader: honest } = get().open();
    const address = await fresh(honest);
    const begin = await here(honest);
    const txId = await get().pay([transfer(address, UNITS)]);
    // Logs and receipt tell the same lie.
    const data = `0x${'7'.padStart(64, '0')}`;
    const lieIn = (logs: object[]) => logs.map((log) => ({ ...log, data }));
    get().node(0).lie = ({ method }, result) => {
      if (method === 'eth_getLogs') return lieIn(result as object[]);
      if (method !== 'eth_getTransactionReceipt') return undefined;
      return { ...(result as object), logs: lieIn((result as { logs: object[] }).logs) };
    };
    const tip = (earlyConfirmations: number | null) =>
      get()
        .open([0, 1], { earlyConfirmations })
        .reader.scan({ level: 'tip', cursor: begin, watch: [address] });
    for (const never of [null, 2]) expect((await tip(never)).transfers).toMatchObject([{ txId, amount: 7n }]);
    await expect(tip(1)).rejects.toThrow(/answer differently/);
    get().node(0).lie = undefined;
    expect((await tip(1)).transfers).toMatchObject([{ txId, amount: UNITS }]);
  });

  test('a receipt that does not fit the log is no proof', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    const txId = await get().pay([transfer(address, UNITS)]);
    get().node(0).lie = ({ method }, result) =>
      method === 'eth_getTransactionReceipt' ? { ...(result as object), logs: [] } : undefined;
    await expect(reader.scan({ level: 'tip', cursor: begin, watch: [address] })).rejects.toThrow(
      `log and receipt of ${txId} differ`,
    );
  });

  test('K5: endpoints that each drop 1 % of logs: two agree, or nothing is read; no transfer is ever missing', async () => {
    const { reader: honest } = get().open();
    const addresses = await Promise.all(Array.from({ length: 50 }, () => fresh(honest)));
    const begin = await here(honest);
    for (let block = 0; block < 8; block++)
      await get().pay(addresses.map((address, i) => transfer(address, BigInt(block * 50 + i + 1))));
    await get().mine(FINAL_BLOCKS);
    const { found: truth } = await readFinal(honest, { cursor: begin, watch: addresses });
    expect(truth).toHaveLength(400);
    // A generator of its own, so that each run drops the same logs.
    let state = 7;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    let dropped = 0;
    for (const node of get().nodes.slice(0, 2)) {
      node.lie = ({ method }, result) =>
        method !== 'eth_getLogs'
          ? undefined
          : (result as object[]).filter(() => {
              const isKept = random() >= 0.01;
              if (!isKept) dropped += 1;
              return isKept;
            });
    }
    let refused = 0;
    for (let i = 0; i < 20; i++) {
      const { reader } = get().open([0, 1, 2]);
      try {
        expect((await readFinal(reader, { cursor: begin, watch: addresses })).found).toEqual(truth);
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        refused += 1;
      }
    }
    expect(dropped).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(0);
  });

  test('fault 45: an outage throws; afterwards nothing is missing, and no cursor moved', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    await get().pay([transfer(address, UNITS)]);
    for (const manner of ['cut', 'html', 'half', 'busy'] as const) {
      get().node(0).manner = manner;
      for (const level of ['final', 'tip'] as const)
        await expect(reader.scan({ level, cursor: begin, watch: [address] })).rejects.toThrow(
          ChainUnavailable,
        );
      await expect(reader.balances([], 'USDT', 'tip')).rejects.toThrow(ChainUnavailable);
      expect(await reader.health()).toMatchObject({
        ok: false,
        detail: expect.stringContaining('127.0.0.1'),
      });
      expect(await reader.cursorAt(5n)).toBe('5');
    }
    get().node(0).manner = undefined;
    await get().mine(FINAL_BLOCKS);
    expect((await readFinal(reader, { cursor: begin, watch: [address] })).found).toHaveLength(1);
    expect(await reader.health()).toMatchObject({ ok: true });
  });

  test('fault 47: a node that lags moves no cursor back, and skips nothing when it catches up', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    await get().pay([transfer(address, UNITS)]);
    await get().mine(FINAL_BLOCKS);
    const { cursor } = await readFinal(reader, { cursor: begin, watch: [address] });
    const second = await get().pay([transfer(address, 2n * UNITS)]);
    const { height } = await reader.head();
    get().node(0).lag = 50;
    expect((await reader.head()).height).toBe(height - 50n);
    expect(await reader.scan({ level: 'final', cursor, watch: [address] })).toMatchObject({
      transfers: [],
      cursor,
    });
    const tip = await reader.scan({ level: 'tip', cursor, watch: [address] });
    expect([tip.transfers, tip.head.height]).toEqual([[], height - 50n]);
    expect(await reader.balance(address, 'USDT', 'tip')).toBe(0n);
    await get().mine(50);
    const seen = await reader.scan({ level: 'tip', cursor, watch: [address] });
    expect(seen.transfers.map(keyOf)).toEqual([`${second}:0`]);
    get().node(0).lag = 0;
    expect((await readFinal(reader, { cursor: cursor, watch: [address] })).found.map(keyOf)).toEqual([
      `${second}:0`,
    ]);
  });

  test('ranges are halved where the node takes fewer blocks or fewer results, and nothing is missing', async () => {
    const { reader } = get().open();
    const address = await fresh(reader);
    const begin = await here(reader);
    for (let i = 0; i < 40; i++) await get().pay([transfer(address, BigInt(i + 1))]);
    await get().mine(FINAL_BLOCKS);
    let asked = 0;
    get().node(0).refuse = ({ method, params }) => {
      if (method !== 'eth_getLogs') return undefined;
      const { fromBlock = '0x0', toBlock = '0x0' } = params[0] as { fromBlock?: string; toBlock?: string };
      asked += 1;
      return Number(toBlock) - Number(fromBlock) + 1 > 5
        ? { code: -32_005, message: 'query returned more than 10000 results' }
        : undefined;
    };
    const { found } = await readFinal(reader, { cursor: begin, watch: [address] });
    expect(found.map(({ amount }) => amount)).toEqual(Array.from({ length: 40 }, (_, i) => BigInt(i + 1)));
    expect(asked).toBeLessThan(40);
    get().node(0).refuse = ({ method }) =>
      method === 'eth_getLogs' ? { code: -32_005, message: 'limit exceeded' } : undefined;
    await expect(readFinal(reader, { cursor: begin, watch: [address] })).rejects.toThrow(ChainUnavailable);
  });
});
