export { ledgerImbalance } from './health.ts';
export { presentBalances } from './present.ts';
export { isCauseBooked, lockBalance, readBalances, recomputeBalances, sumOfEntries } from './queries.ts';
