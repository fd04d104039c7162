import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Bad inputs of public test suites; they lie beside the repository and are never copied into it. */
const FOLDER = path.resolve(import.meta.dirname, '..', '..', 'shared', 'corpora');

/** For `test.skipIf(NO_CORPORA)`: a test that reads corpora is skipped, and says why, where there are none. */
export const NO_CORPORA = !existsSync(FOLDER);
if (NO_CORPORA) console.warn(`tests of bad inputs are skipped: there are no corpora at ${FOLDER}`);

/** A corpus of lines that are nothing but text. */
export function corpusText(name: string): string {
  return readFileSync(path.join(FOLDER, name), 'utf8');
}

/** A corpus of one JSON document. */
export function corpus<T>(name: string): T {
  return JSON.parse(corpusText(name));
}

/** A corpus of one JSON document a line. */
export function corpusLines<T>(name: string): T[] {
  const lines = corpusText(name).split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}
