export { adoptSequence } from './adopt-sequence.ts';
export { AUDIT_JOB, auditJob } from './audit-job.ts';
export { strayRows, transferRows } from './book-queries.ts';
export { type ChargedWallet, findDecidedCharge, openChargesOf, sumOpenCharges } from './charge-queries.ts';
export { checkRecipient } from './check-recipient.ts';
export { listQueuedFromDeposits, sumLeaving, withdrawQueued } from './deposit-keys.ts';
export { findReplaced, forgetReplaced, type Replaced } from './final-block-queries.ts';
export { checkFinalBlocks } from './final-blocks.ts';
export { type TransferHealth, transferHealth } from './health.ts';
export {
  claimHolders,
  decideAdoption,
  hasHistoryChanged,
  historyToAdopt,
  isAdoptionOpen,
  noteHistory,
} from './history.ts';
export { followLost, type LostDecision, voteOnLost } from './lost.ts';
export { listStops, resumeNetwork, stopNetwork } from './network-stops.ts';
export { type FindOwnAddresses, OWN_ADDRESS } from './own-addresses.ts';
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
