export { acceptPayment, findHeldTransfer } from './accept-payment.ts';
export { listPools, orderFill } from './address-pools.ts';
export { decideSeizure } from './decide-seizure.ts';
export { CREDITED_JOB, creditedJob, networkOf, scanJob } from './jobs.ts';
export { listScanJobs } from './scan-deposits.ts';
