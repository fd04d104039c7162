export { findRate, readRateAtCreation } from './quote.ts';
