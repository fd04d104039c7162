export { apiKeyIn, findKeyOwner, type KeyOwner, type KeySecretsKnown, readKeySecrets } from './key-owner.ts';
export { type KeyUse, recordKeyUses, USES_KNOWN_TO_MS } from './record-uses.ts';
