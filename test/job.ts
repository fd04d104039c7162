import type { Job } from '../packages/server/src/platform/jobs/index.ts';

/** A job as its handler sees it, for tests that call the handler themselves. */
export const jobOf = (merchantId: string, payload: Job['payload'], dueAtMs = 0): Job => ({
  merchantId,
  jobId: '',
  kind: '',
  attempts: 0,
  dueAtMs,
  trace: null,
  payload,
});
