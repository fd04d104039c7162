export { adoptSequence } from './adopt-sequence.ts';
export { type TransferHealth, transferHealth } from './health.ts';
export { adoptHistory, hasHistoryChanged, noteHistory } from './history.ts';
export { isPaused, TRANSFER_SETTINGS } from './pauses.ts';
export { listDecided, listUnsettled, paidByTransfers, signedOf, type TransferOrder } from './queries.ts';
export { requestTransfers } from './request-transfers.ts';
export { type Screen, screen } from './screen.ts';
export { SEND_JOB, sendTransfers } from './send-transfers.ts';
export { decidedJob, type TransferDeps } from './work.ts';
