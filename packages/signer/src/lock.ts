import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { codeOf } from './files.ts';
import { SignerMistake } from './mistake.ts';

/** SQLite's SQLITE_BUSY: another connection holds the lock. */
const BUSY = 5;

/**
 * Takes the lock beside a journal, or throws where a living process holds it. It is a kernel lock, taken through SQLite
 * because Node has no call for it: it ends with its holder, however that dies.
 *
 * @returns the release
 */
export function takeLock(file: string): () => void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!(error instanceof Error && 'errcode' in error && error.errcode === BUSY)) throw error;
    throw new SignerMistake('journal', `another signer runs on this journal (${file} is locked).`);
  }
  return () => {
    if (database.isOpen) database.close();
  };
}
