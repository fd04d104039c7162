export { custodyHandlers } from './handlers.ts';
export { CUSTODY_SETTINGS } from './settings.ts';
