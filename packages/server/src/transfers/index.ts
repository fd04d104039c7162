export { adoptHistory, type HistoryAdoption } from './adopt-history.ts';
export { adoptSequence } from './adopt-sequence.ts';
export { auditFinalBlocks } from './audit-final-blocks.ts';
export { AUDIT_JOB, auditJob } from './audit-job.ts';
export { readApprovals, storeApproval } from './authority.ts';
export { strayRows, transferRows } from './book-queries.ts';
export { type ChargedWallet, findDecidedCharge, openChargesOf, sumOpenCharges } from './charge-queries.ts';
export { checkRecipient } from './check-recipient.ts';
export { cancelQueued, listQueuedFromDeposits, sumPendingFromDeposit } from './deposit-queries.ts';
export { sumFees } from './fees.ts';
export { checkFinalBlocks } from './final-blocks.ts';
export type { FindAuthority } from './find-authority.ts';
export { listTanks, storeTank } from './gas-tank.ts';
export { type TransferHealth, transferHealth } from './health.ts';
export { hasHistoryChanged, recordHistory } from './history.ts';
export { type LostDecision, lostChange, voteOnLost } from './lost.ts';
export { isEarlyCreditStopped, listStops, resumeNetwork, stopNetwork } from './network-stops.ts';
export { type FindOwnAddresses, OWN_ADDRESS } from './own-addresses.ts';
export { isPaused, isTurnedOn, TRANSFER_SETTINGS } from './pauses.ts';
export {
  listDecided,
  type TransferOrder,
} from './queries.ts';
export type { ChargeBooks } from './recheck-final.ts';

export { refuseCharges } from './refuse-charges.ts';
export { requestTransfers } from './request-transfers.ts';
export { type Screen, screen } from './screen.ts';
export { SEND_JOB } from './send-job.ts';
export { SHORT_JOB, sendTransfers } from './send-transfers.ts';
export { countSignatures, readSignerRule, type SignerRule } from './signer-people.ts';
export { retryMs } from './states.ts';
export { orderTopUp } from './top-up.ts';
export { listUnsettled, sumPaidByTransfers } from './unsettled.ts';
export { readDeciding } from './versions.ts';
export { decidedJob, type TransferDeps } from './work.ts';
