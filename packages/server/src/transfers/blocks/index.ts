export { type Auditors, auditFinalBlocks } from './audit-final-blocks.ts';
export { AUDIT_JOB, auditJob } from './audit-job.ts';
export { checkFinalBlocks } from './final-blocks.ts';
export { endStops, isEarlyCreditStopped, listStops, stopNetwork } from './network-stops.ts';
