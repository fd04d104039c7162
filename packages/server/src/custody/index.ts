export { custodyHandlers } from './handlers.ts';
export { CUSTODY_SETTINGS, readTankMinimum } from './settings.ts';
export { sumUnswept, sweptAddress } from './sweep-queries.ts';
export { WATCH_TANK_JOB } from './watch-tank.ts';
