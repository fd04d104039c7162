export {
  BatchLoader,
  loaderPer,
  READ_OVERLAP_AFTER_MS,
  readLoaderPerPool,
  rowLoaderPerPool,
} from './batch-loader.ts';
export { CLOCKS_AGREE_WITHIN_MS, Clock, isoOf, unixMsOf } from './clock.ts';
export { maintainDays } from './day-partitions.ts';
export {
  codeOf,
  connect,
  countConnections,
  type Db,
  isRetryable,
  isUnavailable,
  type Tables,
  type Tx,
} from './db.ts';
export { decodeIdToken, encodeIdToken } from './id-token.ts';
export { bodyDigest, claimKey } from './idempotency.ts';
export { decodeUuid, encodeUuid, madeAt, NIL_ID, newId } from './ids.ts';
export { addWithin, takeBack } from './limits.ts';
export {
  type CreatedRange,
  createdRange,
  cursorOf,
  madeWithin,
  newestFirst,
  pageOf,
  readNewest,
  unknownCursor,
} from './list-page.ts';
export { migrate, pendingMigrations } from './migrate.ts';
export { Moves } from './moves.ts';
export { UnknownMigrations } from './rename-applied.ts';
export { columnsOf, insertRows, listed, updateRows } from './rows.ts';
export { findServiceRole, grantServiceRights } from './service-role.ts';
export { deferred, type PreparedStatement, pipeline, prepared } from './statement.ts';
export { afterCommit, CommitUnknown, transact } from './transact.ts';
