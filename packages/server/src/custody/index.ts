export { auditNetwork } from './audit.ts';
export { CUSTODY_SETTINGS } from './settings.ts';
export { SWEPT_JOB, settleSweeps, sweepAll, sweepDeposits } from './sweep.ts';
