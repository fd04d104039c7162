export { custodyHandlers } from './handlers.ts';
export { type LiveAccountDeps, openLiveAccount } from './live-accounts.ts';
export { type HeldCoins, readHeld } from './read-wallets.ts';
export { CUSTODY_SETTINGS, readTankMinimum, stakedBy } from './settings.ts';
export { sumUnswept, sweptAddress } from './sweep-queries.ts';
export { WATCH_TANK_JOB } from './watch-tank.ts';
