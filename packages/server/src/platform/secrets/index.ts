export { isSecretName, redact } from './redact.ts';
export { shorten } from './shorten.ts';
export { Vault, WrongMasterKey } from './vault.ts';
