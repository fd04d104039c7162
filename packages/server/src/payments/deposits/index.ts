export { acceptPayment, findHeldTransfer, listHeldTransfers } from './accept-payment.ts';
export { listPools, orderFill } from './address-pools.ts';
export type { SeizureDecision } from './decide-seizure.ts';
export * as seizures from './decide-seizure.ts';
export { listScans } from './deposit-queries.ts';
export { CREDITED_JOB, creditedJob, networkOf, scanJob } from './jobs.ts';
export { listScanJobs } from './scan-deposits.ts';
