export { maintainDays } from './day-partitions.ts';
export { migrate, pendingMigrations } from './migrate.ts';
export { UnknownMigrations } from './rename-applied.ts';
export { findServiceRole, grantServiceRights } from './service-role.ts';
