export { alignDeliveries } from './align-deliveries.ts';
export { Deliverer } from './deliver.ts';
export type { WebhookDeps } from './deps.ts';
export { webhookHealth } from './health.ts';
export { ALIGN_JOB, DELIVER_JOB, deliverJob } from './jobs.ts';
export { Publisher } from './publish.ts';
export { webhookRoutes } from './routes.ts';
export { WEBHOOK_SETTINGS } from './settings.ts';
export { TABLES_BY_DAY } from './tables.ts';
