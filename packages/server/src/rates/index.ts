export { createRates } from './create-rates.ts';
export { dollarsOf } from './dollars.ts';
export { payAmount } from './pay-amount.ts';
export type { CoinPrice, Rates } from './port.ts';
export { formatRate, movedBeyond, parseRate, type Rate } from './rate.ts';
export { RateRefused } from './refused.ts';
export { RATE_SETTINGS } from './settings.ts';
