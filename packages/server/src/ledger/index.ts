export { type Account, type Balances, coinsOn, debitSign, imbalance, isOperatorAccount } from './accounts.ts';
export { entryRows } from './book-queries.ts';
export type { CauseNames } from './causes.ts';
export { BelowFloor, type Posting, post, postAll, reversed } from './post.ts';
export { ledgerRoutes } from './routes.ts';
export { APPEND_ONLY_TABLES } from './tables.ts';
