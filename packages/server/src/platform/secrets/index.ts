export { isSecretName, redact } from './redact.ts';
export { shorten, shortenSignature } from './shorten.ts';
export { Vault, WrongMasterKey } from './vault.ts';
