export { bookSurplus } from './book-surplus.ts';
export { fillFloat } from './fill-float.ts';
export { findLastReport } from './last-report.ts';
export { type VerifyReport, verifyLedger } from './verify-ledger.ts';
