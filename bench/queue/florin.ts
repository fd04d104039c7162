import { Clock } from '../../packages/server/src/platform/db/clock.ts';
import { connect } from '../../packages/server/src/platform/db/db.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { enqueue, type JobWorker, startWorker } from '../../packages/server/src/platform/jobs/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { execute } from '../database.ts';
import { KIND, type QueueUnderTest } from './queues.ts';

/** The product's jobs as a process of the service runs them: defaults, retries, leases and fences on. */
export async function openFlorin(url: string): Promise<QueueUnderTest> {
  const db = connect({ url, poolSize: 10 });
  const fastDb = connect({ url, poolSize: 4, synchronousCommit: 'off' });
  const clock = new Clock();
  await clock.measure(db);
  let worker: JobWorker | undefined;
  return {
    name: 'florin',
    async start(onStart) {
      const handler = async ({ payload }: { payload: { sentMs?: number } }) => {
        onStart(payload);
        return 'done' as const;
      };
      worker = startWorker({
        db,
        fastDb,
        url,
        clock,
        log: createLogger('warn'),
        handlers: new Map([[KIND, handler]]),
      });
    },
    async countLeft() {
      const [found] = await execute(url, 'select count(*)::int as n from job');
      return found?.rows[0]?.n ?? 0;
    },
    async enqueue(payload) {
      const job = { merchantId: NIL_ID, kind: KIND, dueAtMs: clock.nowMs(), payload };
      await transact(db, (tx) => enqueue(tx, [job]));
    },
    async stop() {
      await worker?.stop(1_000);
      await Promise.all([db.destroy(), fastDb.destroy()]);
    },
  };
}

/** SQL that puts due jobs of so many merchants into the table. */
export const fillFlorin = (jobs: number, merchants: number) => `
  insert into job (merchant_id, job_id, kind, unique_key, due_at_ms)
  select md5((i % ${merchants})::text)::uuid, id, '${KIND}', id::text,
         (extract(epoch from now()) * 1000)::bigint - ${jobs} + i
  from (select i, uuidv7() as id from generate_series(1, ${jobs}) i) as new`;
