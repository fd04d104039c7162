export { readRateAtCreation } from './quote.ts';
