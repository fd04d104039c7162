import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's SQLITE_BUSY: another connection holds the lock. */
const BUSY = 5;

/**
 * Takes the lock file of a data folder or throws at once where a living process holds it. Returns the release, which may be called twice.
 * It is a kernel lock, taken through SQLite because Node has no API for it: it is released with its
 * holder, however that dies, and two starts can never both get it, as they could with a PID file.
 */
export function takeLock(file: string, folder: string): () => void {
  createPrivate(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new Error(`The data folder ${folder} is in use by another running process`);
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

/** Mode 0600, else any local user could hold the lock. An existing file stays unopened: closing it drops locks. */
function createPrivate(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === BUSY;
}
