export { type FailingJob, listFailing, runFailingNow } from './failing-jobs.ts';
