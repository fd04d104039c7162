export { apiKeyIn, findKeyOwner, type KeyOwner, type KeySecretsKnown, readKeySecrets } from './key-owner.ts';
