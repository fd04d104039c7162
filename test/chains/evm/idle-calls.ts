import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain, WatchSet } from '../../../packages/server/src/chains/port/port.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import type { EvmEnvironment } from './environment.ts';

/** Instead of a block of mainnet's twelve seconds. */
const BLOCK_MS = 200;

export const watching = (addresses: ReadonlySet<string>): WatchSet => ({
  among: async (candidates) => new Set(candidates.filter((one) => addresses.has(one))),
  each: async () => [...addresses],
});

/** Scans as `payments` does each time: the tip, and the final blocks where the cursor is behind. */
async function scan(reader: Pick<Chain, 'scan'>, state: { cursor: string }, watch: WatchSet): Promise<void> {
  const tip = await reader.scan({ level: 'tip', cursor: state.cursor, watch });
  const upTo = tip.head.finalHeight;
  const page = await reader.scan({ level: 'final', cursor: state.cursor, watch, upTo });
  state.cursor = page.cursor;
}

interface Idle {
  merchants: number;
  addresses: number;
  blocks: number;
}

/** Calls of the node while so many blocks come and nothing is paid to any merchant. */
export async function callsOfIdle(
  environment: EvmEnvironment,
  { merchants, addresses, blocks }: Idle,
): Promise<number> {
  const node = environment.node(0);
  const opened = environment.openMany(merchants, [0], { refreshMs: BLOCK_MS, keepMs: 600_000, account: 10 });
  const feed = opened[0]?.feed;
  const begin = await opened[0]?.reader.cursorAt((await opened[0].reader.head()).finalHeight);
  const states = opened.map(() => ({ cursor: begin ?? '' }));
  const watched = Array.from({ length: addresses }, (_, i) => environment.recipient(100_000 + i));
  const watch = watching(new Set(watched));
  feed?.start(createLogger('silent'));
  // Blocks come right after the feed has read: all of a poll is in one count.
  await sleep(BLOCK_MS / 2);
  node.forget();
  for (let block = 0; block < blocks; block++) {
    await environment.pay([
      { from: environment.recipient(7_000), to: environment.recipient(1), asset: 'USDT', amount: 1n },
    ]);
    await Promise.all(opened.map(({ reader }, i) => scan(reader, states[i] ?? { cursor: '' }, watch)));
    await sleep(BLOCK_MS);
  }
  feed?.stop();
  return node.counted();
}
