export { payoutBatchRows, payoutItemRows } from './book-queries.ts';
export { payoutErrors } from './error-format.ts';
export { payoutHandlers } from './handlers.ts';
export { presentBatch } from './present.ts';
export { listBatches, locateBatch, locateItem } from './queries.ts';
export { payoutRoutes } from './routes.ts';
export { PAYOUT_SETTINGS } from './settings.ts';
