export { problemOf } from '../states.ts';
export { walletHealth } from './wallet-health.ts';
