export { type Auditors, auditFinalBlocks } from './audit-final-blocks.ts';
export { AUDIT_JOB, auditJob } from './audit-job.ts';
export { checkFinalBlocks } from './final-blocks.ts';
export {
  endAllStops,
  endStops,
  isEarlyCreditStopped,
  listStops,
  type NetworkStop,
  stopKeyOf,
  stopNetwork,
} from './network-stops.ts';
