export * from './checkout.ts';
export * from './events.ts';
export * from './ledger.ts';
export * from './payouts.ts';
export * from './shared.ts';
export * from './test-helpers.ts';
export * from './webhooks.ts';
