export { createDeliveryJobs } from './delivery-jobs.ts';
export type { WebhookDeps } from './deps.ts';
export { listEndpoints } from './endpoint-queries.ts';
export { webhookHealth } from './health.ts';
export { type InboxDelivery, listDeliveriesOf } from './inbox-queries.ts';
export { DELIVER_JOB } from './jobs.ts';
export { webhookRoutes } from './routes.ts';
export { WEBHOOK_SETTINGS } from './settings.ts';
export { TABLES_BY_DAY } from './tables.ts';
