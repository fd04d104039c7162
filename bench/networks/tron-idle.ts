import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '../../packages/server/src/chains/port/index.ts';
import { watching } from '../../test/chains/evm/idle-calls.ts';
import { TronEnvironment } from '../../test/chains/tron/environment.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';

/** A block of mainnet's three seconds in so much time; all else is as much faster. */
const BLOCK_MS = 100;
const FASTER = 3_000 / BLOCK_MS;
const LOOK_EVERY_MS = 600_000 / FASTER;
const TIMES = { refreshMs: 3_000 / FASTER, relaxedMs: 180_000 / FASTER, keepMs: 900_000 / FASTER };
const ADDRESSES = 10;
const MERCHANTS = 200;

/** Rows 23e and 23h: calls of the node per block while nobody pays. Each merchant scans every ten minutes. */
export async function measureTronIdle(options: RunOptions): Promise<Findings> {
  const blocks = options.quick ? 200 : 400;
  const local = await TronEnvironment.start();
  const setting = (name: string, merchants: number) => ({
    name,
    run: async () => (await callsOfIdle(local, { merchants, blocks })) / blocks,
  });
  try {
    const values = await interleave(
      [setting('calls a block, 1 merchant', 1), setting(`calls a block, ${MERCHANTS} merchants`, MERCHANTS)],
      options,
    );
    const [one = [], many = []] = Object.values(values);
    return {
      results: [
        { row: '23e', values: many },
        { row: '23h', values: one },
      ],
      remarks: [
        `Of 23e and 23h, blocks, looks and what is kept of them follow each other ${FASTER} times as fast as on mainnet.`,
      ],
    };
  } finally {
    await local.node.stop();
  }
}

async function callsOfIdle(
  local: TronEnvironment,
  { merchants, blocks }: { merchants: number; blocks: number },
): Promise<number> {
  // Payers have an endpoint of their own.
  const endpoint = await local.node.open();
  const endpoints = local.endpoints({ ...local.network, endpoints: [{ url: endpoint.url, isOwn: true }] });
  const feed = local.feed(endpoints, TIMES);
  const watch = watching(
    new Set(Array.from({ length: ADDRESSES }, (_, i) => local.wallet(`a payer's address ${i}`))),
  );
  const stopped = new AbortController();
  const chains = Array.from({ length: merchants }, (_, i) => local.open(endpoints, { account: i + 1, feed }));
  const [first] = chains;
  // In the first round of looks one reads what the others find, with the block that all record first.
  const begin = (await first?.cursorAt((await first.head()).finalHeight - 1n)) ?? '';
  const looking = chains.map((chain, i) =>
    lookOn(chain, { watch, begin, firstAfterMs: (i * LOOK_EVERY_MS) / merchants, signal: stopped.signal }),
  );
  await makeBlocks(local, LOOK_EVERY_MS / BLOCK_MS);
  const before = endpoint.faults.counted();
  await makeBlocks(local, blocks);
  const found = endpoint.faults.counted() - before;
  stopped.abort();
  await Promise.all(looking);
  await endpoints.close();
  return found;
}

async function makeBlocks(local: TronEnvironment, blocks: number): Promise<void> {
  const begun = performance.now();
  for (let block = 1; block <= blocks; block++) {
    // With payments in them they would cost the same calls, and be too late.
    await local.mine(1);
    await sleep(Math.max(0, begun + block * BLOCK_MS - performance.now()));
  }
}

/** What `NetworkScan` calls for a quiet merchant, every ten minutes. */
async function lookOn(
  chain: Chain,
  {
    watch,
    begin,
    firstAfterMs,
    signal,
  }: { watch: ReturnType<typeof watching>; begin: string; firstAfterMs: number; signal: AbortSignal },
): Promise<void> {
  const freshness = 'relaxed';
  let cursor = begin;
  let recorded: bigint | undefined;
  for (let waitMs = firstAfterMs; !signal.aborted; waitMs = LOOK_EVERY_MS) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const { finalHeight: upTo } = await chain.head(freshness);
    await chain.blockHashes(recorded === undefined ? [upTo] : [recorded, upTo], freshness);
    recorded = upTo;
    ({ cursor } = await chain.scan({ level: 'final', cursor, watch, upTo, freshness }));
  }
}
