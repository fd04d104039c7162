export { advanceClockJobs, hasDueJobs, hastenClockJobs, nextClockJobMs } from './advance.ts';
export { batchStep } from './batch-step.ts';
export { crashPoint } from './crash-point.ts';
export { enqueue, type JobSpec } from './enqueue.ts';
export { countWorkers, jobHealth } from './health.ts';
export type { Job, JobHandler, JobOutcome, JobRun } from './job.ts';
export { joinRuns } from './run.ts';
export { Semaphore } from './semaphore.ts';
export { type JobWorker, startWorker } from './worker.ts';
