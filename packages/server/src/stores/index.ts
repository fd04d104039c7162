export * as approvalLimits from './approval-limits.ts';
export * as approverKeys from './approver-keys.ts';
export { createAuthentication, listAdmittedKeys } from './authenticate.ts';
export { createMerchant, moveClock, setMerchantStatus } from './create-merchant.ts';
export { macOf } from './credentials.ts';
export { addApprover, identifyApprover, listApprovers, removeApprover } from './manage-approvers.ts';
export { createKey, listKeys, revokeKey, rotateKey } from './manage-keys.ts';
export { changeStore, createStore, listStores, type StoreChange } from './manage-stores.ts';
export { deleteOldNonces } from './nonces.ts';
export {
  findMerchant,
  getMerchant,
  getStore,
  listMerchants,
  type Merchant,
  merchantOf,
  type Suspensions,
  suspendedFor,
} from './queries.ts';
export { castVote, type VoteCount } from './votes.ts';
export { confirmWebhookKey, lockStore, readWebhookSecrets, setWebhookKey } from './webhook-keys.ts';
