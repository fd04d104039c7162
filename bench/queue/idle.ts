import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../packages/server/src/platform/db/migrations/migrate.ts';
import { startChild } from '../child.ts';
import type { BenchServer } from '../database.ts';
import { peerVersions } from '../peers/peers.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, percentile, ratios, short } from '../statistics.ts';
import { openFlorin } from './florin.ts';
import { openGraphile } from './graphile.ts';
import { machineMs, type QueueUnderTest } from './queues.ts';

const GAP_MIN_MS = 20;
const GAP_MAX_MS = 40;
const SETTLE_MS = 500;

/** Row 7: how soon a worker with nothing to do begins a job that another process adds. */
export async function runIdle(server: BenchServer, options: RunOptions): Promise<Findings> {
  if (peerVersions()['graphile-worker'] === undefined) {
    return { results: [{ row: '7', missing: 'peer absent' }], remarks: [] };
  }
  const jobs = options.quick ? 60 : 200;
  const urls = { florin: await server.createDatabase(), graphile: await server.createDatabase() };
  await migrate(urls.florin);
  const queues = [await openFlorin(urls.florin), await openGraphile(urls.graphile, 'serve')];
  const p99 = new Map<string, number[]>();
  try {
    const settings = queues.map((queue) => ({
      name: queue.name,
      run: async () => {
        const url = queue.name === 'florin' ? urls.florin : urls.graphile;
        const delaysMs = await measureDelays(queue, url, jobs, options);
        p99.set(queue.name, [...(p99.get(queue.name) ?? []), percentile(delaysMs, 0.99)]);
        return percentile(delaysMs, 0.5);
      },
    }));
    const values = await interleave(settings, options);
    const ours = values.florin ?? [];
    const theirs = values['graphile-worker'] ?? [];
    const told = ([name, p50]: [string, number[]]) =>
      `${name} p50 ${short(median(p50))} ms, p99 ${short(median(p99.get(name) ?? []))} ms`;
    return {
      results: [
        { row: '7', values: ratios(ours, theirs), raw: { 'florin ms': ours, 'graphile-worker ms': theirs } },
      ],
      remarks: [`Idle enqueue-to-start: ${Object.entries(values).map(told).join('; ')}.`],
    };
  } finally {
    for (const queue of queues) await queue.stop();
  }
}

async function measureDelays(
  queue: QueueUnderTest,
  url: string,
  jobs: number,
  { profileDir }: RunOptions,
): Promise<number[]> {
  const child = startChild('queue/worker.ts', {
    argument: { queue: queue.name, url, task: 'serve', jobs },
    profileDir,
  });
  await child.next();
  await sleep(SETTLE_MS);
  const delaysMs: number[] = [];
  child.onLine((line) => delaysMs.push((line as { delayMs: number }).delayMs));
  for (let i = 0; i < jobs; i++) {
    await queue.enqueue({ sentMs: machineMs() });
    await sleep(GAP_MIN_MS + Math.random() * (GAP_MAX_MS - GAP_MIN_MS));
  }
  await sleep(SETTLE_MS);
  await child.stop();
  if (delaysMs.length !== jobs) throw new Error(`${queue.name} began ${delaysMs.length} jobs of ${jobs}`);
  return delaysMs;
}
