import { migrate } from '../../packages/server/src/platform/db/migrations/migrate.ts';
import { startChild } from '../child.ts';
import { type BenchServer, execute, reset } from '../database.ts';
import { peerVersions } from '../peers/peers.ts';
import { interleave, type Setting } from '../rounds.ts';
import type { Findings, RowId, RowResult, RunOptions } from '../rows.ts';
import { median, ratios, short } from '../statistics.ts';
import { fillFlorin } from './florin.ts';
import { fillGraphile } from './graphile.ts';
import { fillPgBoss } from './pg-boss.ts';
import type { QueueTask, QueueUnderTest } from './queues.ts';

const ROWS_OF_DRAIN = {
  '6a': [1, 'graphile-worker'],
  '6b': [1_000, 'graphile-worker'],
  '6c': [1, 'pg-boss'],
  '6d': [1_000, 'pg-boss'],
} as const;
const FILL_CHUNK = 10_000;

/** Row 6: how fast one worker process empties a full queue, against two popular queues. */
export async function runDrain(server: BenchServer, options: RunOptions): Promise<Findings> {
  const jobs = options.quick ? 20_000 : 100_000;
  const drainer = new Drainer(server, jobs, options);
  const wanted = Object.entries(ROWS_OF_DRAIN).filter(([row]) => options.wanted.has(row as RowId));
  const versions = peerVersions();
  const merchants = [...new Set(wanted.map(([, [count]]) => count))];
  const peers = [...new Set(wanted.map(([, [, peer]]) => peer))].filter(
    (peer) => versions[peer] !== undefined,
  );
  const settings: Setting[] = [
    ...merchants.map((count) => ({ name: `florin ${count}`, run: () => drainer.florin(count) })),
    ...peers.map((peer) => ({ name: peer, run: () => drainer[peer]() })),
  ];
  const values = await interleave(settings, options);
  const results = wanted.map(([row, [count, peer]]): RowResult => {
    const theirs = values[peer];
    if (theirs === undefined) return { row: row as RowId, missing: 'peer absent' };
    const ours = values[`florin ${count}`] ?? [];
    return {
      row: row as RowId,
      values: ratios(ours, theirs),
      raw: { 'florin jobs/s': ours, [`${peer} jobs/s`]: theirs },
    };
  });
  const rates = Object.entries(values).map(([name, rounds]) => `${name} ${short(median(rounds))}`);
  return {
    results,
    remarks: [`Drain of ${jobs.toLocaleString('en-US')} jobs, jobs/s: ${rates.join(', ')}.`],
  };
}

/** Fills each queue anew, in a database of its own, and has a fresh process empty it. */
class Drainer {
  readonly #server: BenchServer;
  readonly #jobs: number;
  readonly #profileDir: string | undefined;
  readonly #urls = new Map<string, string>();

  constructor(server: BenchServer, jobs: number, { profileDir }: RunOptions) {
    this.#server = server;
    this.#jobs = jobs;
    this.#profileDir = profileDir;
  }

  async florin(merchants: number): Promise<number> {
    const url = await this.#url('florin', migrate);
    await reset(url, ['job']);
    await execute(url, fillFlorin(this.#jobs, merchants), 'vacuum analyze job', 'checkpoint');
    return await this.#drain('florin', url);
  }

  async 'graphile-worker'(): Promise<number> {
    const url = await this.#url('graphile-worker', (fresh) => this.#install('graphile-worker', fresh));
    await reset(url, ['graphile_worker._private_jobs']);
    for (let done = 0; done < this.#jobs; done += FILL_CHUNK) {
      await execute(url, fillGraphile(Math.min(FILL_CHUNK, this.#jobs - done)));
    }
    await execute(url, 'vacuum analyze graphile_worker._private_jobs', 'checkpoint');
    return await this.#drain('graphile-worker', url);
  }

  async 'pg-boss'(): Promise<number> {
    const url = await this.#url('pg-boss', (fresh) => this.#install('pg-boss', fresh));
    await reset(url, ['pgboss.job cascade']);
    await fillPgBoss(url, this.#jobs);
    await execute(url, 'vacuum analyze', 'checkpoint');
    return await this.#drain('pg-boss', url);
  }

  /** A first start brings the peer's tables. */
  async #install(queue: QueueUnderTest['name'], url: string): Promise<void> {
    await this.#child({ queue, url, task: 'drain', jobs: 0 });
  }

  async #drain(queue: QueueUnderTest['name'], url: string): Promise<number> {
    const { perSecond, started } = await this.#child({ queue, url, task: 'drain', jobs: this.#jobs });
    if (started !== this.#jobs) throw new Error(`${queue} ran ${started} jobs of ${this.#jobs}`);
    return perSecond;
  }

  async #child(argument: QueueTask): Promise<{ perSecond: number; started: number }> {
    const child = startChild('queue/worker.ts', { argument, profileDir: this.#profileDir });
    const said = await child.next<{ perSecond: number; started: number }>();
    await child.stop();
    return said;
  }

  async #url(queue: string, prepare: (url: string) => Promise<unknown>): Promise<string> {
    const known = this.#urls.get(queue);
    if (known !== undefined) return known;
    const url = await this.#server.createDatabase();
    await prepare(url);
    this.#urls.set(queue, url);
    return url;
  }
}
