import { execute } from '../database.ts';
import { loadPeer } from '../peers/peers.ts';
import { KIND, type QueueUnderTest } from './queues.ts';

interface Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): void;
  createQueue(name: string): Promise<void>;
  getQueueStats(name: string): Promise<unknown>;
  fetch(name: string, options: object): Promise<{ id: string; data: { sentMs?: number } }[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
  insert(name: string, jobs: object[]): Promise<unknown>;
  send(name: string, data: object): Promise<unknown>;
}

const BATCH = 500;
const LOOPS = 4;
const FILL_CHUNK = 10_000;

/** Fetches and completes in batches, the fastest way that its interface has. */
export async function openPgBoss(url: string): Promise<QueueUnderTest> {
  const { PgBoss } = await loadPeer<{ PgBoss: new (options: object) => Boss }>('pg-boss');
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(KIND);
  const loop = async (onStart: (payload: object) => void) => {
    for (;;) {
      const jobs = await boss.fetch(KIND, { batchSize: BATCH });
      if (jobs.length === 0) break;
      for (const { data } of jobs) onStart(data);
      await boss.complete(
        KIND,
        jobs.map(({ id }) => id),
      );
    }
  };
  return {
    name: 'pg-boss',
    async start(onStart) {
      for (let i = 0; i < LOOPS; i++) void loop(onStart);
    },
    async countLeft() {
      const [found] = await execute(
        url,
        "select count(*)::int as n from pgboss.job where state <> 'completed'",
      );
      return found?.rows[0]?.n ?? 0;
    },
    async enqueue(payload) {
      await boss.send(KIND, payload);
    },
    stop: () => boss.stop({ graceful: false }),
  };
}

export async function fillPgBoss(url: string, jobs: number): Promise<void> {
  const { PgBoss } = await loadPeer<{ PgBoss: new (options: object) => Boss }>('pg-boss');
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(KIND);
  for (let done = 0; done < jobs; done += FILL_CHUNK) {
    await boss.insert(
      KIND,
      Array.from({ length: Math.min(FILL_CHUNK, jobs - done) }, () => ({ data: {} })),
    );
  }
  await boss.stop({ graceful: false });
}
