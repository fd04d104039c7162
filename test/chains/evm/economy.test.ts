import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hasAnvil } from '../../contracts/local-node.ts';
import { EvmEnvironment, FINAL_BLOCKS } from './environment.ts';
import { callsOfIdle, watching } from './idle-calls.ts';

const BLOCKS = 10;

describe.skipIf(!hasAnvil())('what reading costs', () => {
  let environment: EvmEnvironment;
  beforeAll(async () => {
    environment = await EvmEnvironment.start();
  }, 120_000);
  afterAll(() => environment?.stop());
  afterEach(() => environment.node(0).forget());

  test('an idle installation makes no call for each merchant or address', async () => {
    const calls = (merchants: number, addresses: number) =>
      callsOfIdle(environment, { merchants, addresses, blocks: BLOCKS });
    const one = await calls(1, 10);
    const many = await calls(200, 10);
    const watched = await calls(1, 10_000);
    console.log(
      `calls in ${BLOCKS} blocks: ${one} for one merchant, ${many} for 200, ${watched} for 10,000 addresses`,
    );
    expect(one).toBeGreaterThan(BLOCKS);
    // A slow machine looks more often at each block; a call for each merchant or address would be many times as much.
    for (const other of [many, watched]) expect(other).toBeLessThan(2 * one);
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
