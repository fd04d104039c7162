export { advanceClockJobs, hasDueJobs, hastenClockJobs, nextClockJobMs } from './advance.ts';
export { batchStep } from './batch-step.ts';
export { crashPoint } from './crash-point.ts';
export { enqueue, type JobSpec } from './enqueue.ts';
export { countWorkers, jobHealth } from './health.ts';
export { type Job, type JobHandler, type JobOutcome, type JobRun, LeaseLost } from './job.ts';
export { joinRuns } from './run.ts';
export { Semaphore } from './semaphore.ts';
export { type JobWorker, startWorker, type WorkerOptions } from './worker.ts';
