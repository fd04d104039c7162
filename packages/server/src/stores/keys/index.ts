export { createAuthentication, listAdmittedKeys } from './authenticate.ts';
export { macOf } from './credentials.ts';
export { createKey, revokeKey, rotateKey } from './manage-keys.ts';
export { deleteOldNonces } from './nonces.ts';
export {
  confirmWebhookKey,
  lockStore,
  readWebhookKey,
  readWebhookSecrets,
  setWebhookKey,
} from './webhook-keys.ts';
