export { CLOCKS_AGREE_WITHIN_MS, Clock, isoOf, unixMsOf } from './clock.ts';
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
export { afterCommit, CommitUnknown, transact } from './transact.ts';
