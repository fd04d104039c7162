export { isPaused, TRANSFER_SETTINGS } from './pauses.ts';
export { listDecided, listUnsettled, paidByTransfers, signedOf, type TransferOrder } from './queries.ts';
export { requestTransfers } from './request-transfers.ts';
export { type Screen, screen } from './screen.ts';
export { decidedJob, SEND_JOB, sendTransfers, type TransferDeps } from './send-transfers.ts';
