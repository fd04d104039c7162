export { readApprovals } from './authority.ts';
export * as countedApprovals from './counting.ts';
export type { FindAuthority } from './find-authority.ts';
export { type Decided, listDecisions } from './list-decisions.ts';
export { type LostDecision, lostChange, voteOnLost } from './lost.ts';
export * as requiredApprovals from './required-approvals.ts';
export * as signedApprovals from './signed-approvals.ts';
export * as signerJournal from './signer-journal.ts';
export { type VerifiedDecision, verifyDecision } from './verify-decision.ts';
