export { strayRows, transferRows } from './book-queries.ts';
export { sumFees } from './fees.ts';
export { listUnsettled, sumPaidByTransfers } from './unsettled.ts';
