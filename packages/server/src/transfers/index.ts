export { transferHealth } from './health.ts';
export { isPaused, isTurnedOn, TRANSFER_SETTINGS } from './pauses.ts';
export { listDecided, type TransferOrder } from './queries.ts';
export { requestTransfers } from './request-transfers.ts';
export { decidedJob } from './send-context.ts';
export { SEND_JOB } from './send-job.ts';
export { SHORT_JOB, sendTransfers } from './send-transfers.ts';
export { retryMs } from './states.ts';
