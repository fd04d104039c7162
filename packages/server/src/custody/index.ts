export { custodyHandlers } from './handlers.ts';
export { CUSTODY_SETTINGS } from './settings.ts';
export { WATCH_TANK_JOB } from './watch-tank.ts';
