export type { Accounts } from './accounts.ts';
export { addressOf, addressOfKey, readAddress } from './address.ts';
export {
  approverKeyOf,
  approverPublicKey,
  openApproverKey,
  signStatement,
  writeApproverKey,
} from './approver-files.ts';
export type { ApproverKey } from './approver-key.ts';
export {
  batchPayoutDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  delegateDeployment,
  sweeperDeployment,
} from './contracts.ts';
export { readPassphrase, readPrivateFile, readPublicFile } from './files.ts';
export { createJournal, readJournal } from './journal.ts';
export {
  checkNewFile,
  checkNewPassphrase,
  factsOfWords,
  type KeyFileFacts,
  openKeyFile,
  readKeyFileFacts,
  writeKeyFile,
} from './key-file.ts';
export { Memory } from './memory.ts';
export { SignerMistake } from './mistake.ts';
export { makeOwnerCall, ownerFeesOf, type UnsignedOwnerCall } from './owner-call.ts';
export { type Policy, readPolicy } from './policy.ts';
export { readSubject } from './schemas.ts';
export { type Listen, type SignerServer, serveSigner } from './server.ts';
export { Signer, type SignerOptions } from './signer.ts';
export {
  approvalDigest,
  approvalTypedData,
  type Statement,
  type Subject,
  statementOf,
  statementText,
} from './statement.ts';
export { makeWords, readWords } from './words.ts';
