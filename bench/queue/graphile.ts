import { loadPeer } from '../peers/peers.ts';
import { KIND, type QueueUnderTest } from './queues.ts';

interface Utils {
  migrate(): Promise<void>;
  withPgClient<T>(
    work: (client: { query(text: string): Promise<{ rows: { n: number }[] }> }) => Promise<T>,
  ): Promise<T>;
  addJob(task: string, payload: object): Promise<unknown>;
  release(): Promise<void>;
}
interface Graphile {
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
}

/** As its own performance test sets it up, the fastest that its documentation names. */
const FASTEST = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};
/** Without a local queue it starts a single job sooner. */
const PROMPTEST = { concurrentJobs: 10, maxPoolSize: 10 };

const quiet = () => () => {};

export async function openGraphile(url: string, task: 'drain' | 'serve'): Promise<QueueUnderTest> {
  const module = await loadPeer<Graphile & { Logger: new (factory: typeof quiet) => object }>(
    'graphile-worker',
  );
  const logger = new module.Logger(quiet);
  const utils = await module.makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  let runner: { stop(): Promise<void> } | undefined;
  return {
    name: 'graphile-worker',
    async start(onStart) {
      const worker = { connectionString: url, ...(task === 'drain' ? FASTEST : PROMPTEST) };
      const taskList = { [KIND]: async (payload: { sentMs?: number }) => onStart(payload) };
      runner = await module.run({ preset: { worker }, taskList, logger, noHandleSignals: true });
    },
    countLeft: () =>
      utils.withPgClient(async (client) => {
        const { rows } = await client.query('select count(*)::int as n from graphile_worker._private_jobs');
        return rows[0]?.n ?? 0;
      }),
    async enqueue(payload) {
      await utils.addJob(KIND, payload);
    },
    async stop() {
      await runner?.stop();
      await utils.release();
    },
  };
}

/** SQL that adds so many jobs. */
export const fillGraphile = (jobs: number) => `
  select count(*) from graphile_worker.add_jobs(array(
    select json_populate_record(null::graphile_worker.job_spec, json_build_object('identifier', '${KIND}', 'payload', '{}'::json))
    from generate_series(1, ${jobs})))`;
