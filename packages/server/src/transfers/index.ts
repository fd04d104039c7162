export { transferHealth } from './health.ts';
export { isPaused, isTurnedOn, TRANSFER_SETTINGS } from './pauses.ts';
export { listDecided, type TransferOrder } from './queries.ts';
export { decidedJob, requestTransfers, SEND_JOB } from './request-transfers.ts';
export { INSUFFICIENT_COINS_JOB, sendTransfers } from './send-transfers.ts';
export { retryMs } from './states.ts';
