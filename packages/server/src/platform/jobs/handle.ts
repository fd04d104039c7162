import { describeError, type Ending, endingOf, settleOutcome } from './decisions.ts';
import type { JobHandler, JobLog } from './job.ts';
import type { ActiveRun } from './run.ts';

/** Runs the handler and records whatever it throws with its job: the only broad catch around jobs. */
export async function handle(run: ActiveRun, handler: JobHandler | undefined, log: JobLog): Promise<Ending> {
  const { merchantId, jobId, kind, payload, attempts, dueAtMs, trace } = run.job;
  try {
    if (handler === undefined) throw new Error(`no handler for ${kind}`);
    const outcome = await handler({ merchantId, jobId, kind, payload, attempts, dueAtMs, trace }, run);
    // Ignored after `finish`, so that it need not be valid then.
    const settlement = run.state === 'running' ? settleOutcome(outcome) : ({ act: 'remove' } as const);
    return { type: 'returned', settlement };
  } catch (error) {
    const ending = endingOf(error, run.isAborted);
    if (ending.type === 'threw') {
      const fields = { merchantId, jobId, kind, attempts: attempts + 1, error: describeError(error) };
      log.warn(fields, 'jobs: a run failed and will be tried again');
    }
    return ending;
  }
}
