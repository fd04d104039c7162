export { Deliverer } from './deliver.ts';
export type { WebhookDeps } from './deps.ts';
export { webhookHealth } from './health.ts';
export { DELIVER_JOB, deliverJob } from './jobs.ts';
export { Publisher } from './publish.ts';
export { TABLES_BY_DAY } from './tables.ts';
