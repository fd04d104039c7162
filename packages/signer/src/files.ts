import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { SignerMistake } from './mistake.ts';

const OTHERS = 0o007;
const GROUP_AND_OTHERS = 0o077;
/** Writing by the group and by others. */
const WRITING = 0o022;
const TEXT_MAX = 1_048_576;

/**
 * Reads a file that nobody else may read.
 *
 * @param what names it in a refusal: `the key file`
 * @throws SignerMistake where it cannot be read, or others can
 */
export function readPrivateFile(file: string, what: string): string {
  return read(file, what, GROUP_AND_OTHERS);
}

/** Reads a file that nobody else may write. @throws SignerMistake where others can, or it cannot be read */
export function readPublicFile(file: string, what: string): string {
  return read(file, what, WRITING);
}

/**
 * The passphrase of a key file: the first line of a file.
 *
 * systemd gives a credential's folder to the service alone, so the group's right to read does not count there.
 */
export function readPassphrase(file: string, credentials: string | undefined): string {
  const isCredential =
    credentials !== undefined && path.dirname(path.resolve(file)) === path.resolve(credentials);
  const text = read(file, 'the passphrase file', isCredential ? OTHERS : GROUP_AND_OTHERS);
  const [line = ''] = text.split(/\r?\n/, 1);
  if (line === '') throw new SignerMistake('passphrase', `the passphrase file ${file} is empty.`);
  return line;
}

function read(file: string, what: string, forbidden: number): string {
  try {
    const { mode, size } = statSync(file);
    if ((mode & forbidden) !== 0)
      throw new SignerMistake(
        'file_mode',
        forbidden === WRITING
          ? `${what} ${file} can be written by others: chmod go-w ${file}`
          : `${what} ${file} can be read by others: chmod 600 ${file}`,
      );
    if (size > TEXT_MAX) throw new SignerMistake('file', `${what} ${file} is larger than 1 MiB.`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof SignerMistake) throw error;
    const code = codeOf(error);
    const reason = {
      ENOENT: 'does not exist',
      EACCES: 'may not be read by this user',
      EISDIR: 'is a folder',
    }[code];
    throw new SignerMistake('file', `${what} ${file} ${reason ?? `cannot be read (${code})`}.`);
  }
}

/** The system's name for an error of a file, such as ENOENT. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
