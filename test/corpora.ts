import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

/** Bad inputs of public test suites; they lie beside the repository and are never copied into it. */
const FOLDER = path.resolve(import.meta.dirname, '..', '..', 'shared', 'corpora');
const isThere = existsSync(FOLDER);

/** A test that reads corpora; where their folder is absent it says so and is skipped. */
export function testWithCorpora(title: string, run: () => Promise<void> | void, timeoutMs?: number): void {
  if (!isThere) console.warn(`skipped, as there are no corpora at ${FOLDER}: ${title}`);
  test.skipIf(!isThere)(title, run, timeoutMs);
}

function readText(name: string): string {
  return readFileSync(path.join(FOLDER, name), 'utf8');
}

/** A corpus of one JSON document. */
export function corpus<T>(name: string): T {
  return JSON.parse(readText(name));
}

/** A corpus of one JSON document a line. */
export function corpusLines<T>(name: string): T[] {
  const lines = readText(name).split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}
