export { type FailingCursor, type FailingJob, listFailing, runFailingNow } from './failing-jobs.ts';
