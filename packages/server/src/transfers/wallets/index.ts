export { cancelQueued, listQueuedFromDeposits, sumPendingFromDeposit } from './deposit-queries.ts';
export { listTanks, storeTank } from './gas-tank.ts';
export { orderTopUp } from './top-up.ts';
export { countUnderWay, type UnderWay } from './under-way.ts';
export { wakeBorrowers } from './wake-borrowers.ts';
