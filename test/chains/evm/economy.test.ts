import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EvmReader } from '../../../packages/server/src/chains/evm/reader.ts';
import type { WatchSet } from '../../../packages/server/src/chains/port.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { EvmEnvironment, FINAL_BLOCKS } from './environment.ts';

/** Instead of a block of mainnet's twelve seconds. */
const BLOCK_MS = 200;
const BLOCKS = 10;

describe.skipIf(!hasAnvil())('what reading costs', () => {
  let environment: EvmEnvironment;
  beforeAll(async () => {
    environment = await EvmEnvironment.start();
  }, 120_000);
  afterAll(() => environment?.stop());
  afterEach(() => environment.node(0).forget());

  const logger = () => createLogger('silent');
  const watching = (addresses: ReadonlySet<string>): WatchSet => ({
    among: async (candidates) => new Set(candidates.filter((one) => addresses.has(one))),
    all: async () => [...addresses],
  });

  /** Scans as `payments` does each time: the tip, and the final blocks where the cursor is behind. */
  async function scan(reader: EvmReader, state: { cursor: string }, watch: WatchSet): Promise<number> {
    const tip = await reader.scan({ level: 'tip', cursor: state.cursor, watch });
    const page = await reader.scan({
      level: 'final',
      cursor: state.cursor,
      watch,
      upTo: tip.head.finalHeight,
    });
    state.cursor = page.cursor;
    return page.transfers.length;
  }

  /** Calls of the node while blocks come and nothing is paid to any merchant. */
  async function callsOfIdle(merchants: number, addresses: number): Promise<number> {
    const opened = environment.openMany(merchants, [0], {
      refreshMs: BLOCK_MS,
      keepMs: 600_000,
      account: 10,
    });
    const feed = opened[0]?.feed;
    const begin = await opened[0]?.reader.cursorAt((await opened[0].reader.head()).finalHeight);
    const states = opened.map(() => ({ cursor: begin ?? '' }));
    const watch = watching(
      new Set(Array.from({ length: addresses }, (_, i) => environment.recipient(100_000 + i))),
    );
    feed?.start(logger());
    // Blocks come right after the feed has read: all of a look is in one count.
    await sleep(BLOCK_MS / 2);
    environment.node(0).forget();
    for (let block = 0; block < BLOCKS; block++) {
      await environment.pay([
        { from: environment.recipient(7_000), to: environment.recipient(1), asset: 'USDT', amount: 1n },
      ]);
      await Promise.all(opened.map(({ reader }, i) => scan(reader, states[i] ?? { cursor: '' }, watch)));
      await sleep(BLOCK_MS);
    }
    feed?.stop();
    return environment.node(0).counted();
  }

  test('an idle installation makes as many calls for 1 and 200 merchants and for 10 and 10,000 addresses', async () => {
    const one = await callsOfIdle(1, 10);
    const many = await callsOfIdle(200, 10);
    const watched = await callsOfIdle(1, 10_000);
    console.log(
      `calls in ${BLOCKS} blocks: ${one} for one merchant, ${many} for 200, ${watched} for 10,000 addresses`,
    );
    expect(one).toBeGreaterThan(BLOCKS);
    // A look more or less, by when the clock ticks.
    for (const calls of [many, watched]) expect(Math.abs(calls - one) / one).toBeLessThan(0.25);
  });

  test('1,000 deposits in 10 blocks are found by one scan', async () => {
    const { reader } = environment.open();
    const addresses = Array.from({ length: 1_000 }, (_, i) => environment.recipient(200_000 + i));
    const begin = await reader.cursorAt((await reader.head()).finalHeight);
    for (let block = 0; block < 10; block++) {
      const some = addresses.slice(block * 100, (block + 1) * 100);
      await environment.pay(
        some.map((to, i) => ({
          from: environment.recipient(7_000),
          to,
          asset: i % 2 === 0 ? 'USDT' : 'USDC',
          amount: 1n,
        })),
      );
    }
    await environment.mine(FINAL_BLOCKS);
    environment.node(0).forget();
    const started = performance.now();
    const { transfers, complete } = await reader.scan({
      level: 'final',
      cursor: begin,
      watch: watching(new Set(addresses)),
    });
    const tookMs = Math.round(performance.now() - started);
    console.log(`1,000 deposits in 10 blocks: ${tookMs} ms, ${environment.node(0).counted()} calls`);
    expect([transfers.length, complete]).toEqual([1_000, true]);
    expect(environment.node(0).counted('eth_getTransactionReceipt')).toBe(10);
  });
});
