export { Vault, WrongMasterKey } from './vault.ts';
