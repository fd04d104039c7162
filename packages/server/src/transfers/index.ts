export { adoptSequence } from './adopt-sequence.ts';
export { AUDIT_JOB, auditJob } from './audit-job.ts';
export { type ChargedWallet, findDecidedCharge, openChargesOf, sumOpenCharges } from './charge-queries.ts';
export { checkRecipient } from './check-recipient.ts';
export { type TransferHealth, transferHealth } from './health.ts';
export { adoptHistory, hasHistoryChanged, noteHistory } from './history.ts';
export { listStops, resumeNetwork, stopNetwork } from './network-stops.ts';
export { isPaused, TRANSFER_SETTINGS } from './pauses.ts';
export {
  listDecided,
  listUnsettled,
  paidByTransfers,
  signedOf,
  type TransferOrder,
} from './queries.ts';
export { type ChargeBooks, recheckFinal } from './recheck-final.ts';
export { refuseCharges } from './refuse-charges.ts';
export { requestTransfers } from './request-transfers.ts';
export { type Screen, screen } from './screen.ts';
export { SEND_JOB, SHORT_JOB, sendTransfers } from './send-transfers.ts';
export { retryMs } from './states.ts';
export { decidedJob, type TransferDeps } from './work.ts';
