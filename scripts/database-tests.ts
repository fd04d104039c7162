import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './step.ts';

/** What gives a test its database: who reaches neither of them has none. */
const DATABASES = ['test/database.ts', 'packages/embedded-postgres/src/index.ts'];
/** Imports of files, also dynamic ones and those of types. */
const RELATIVE = /(?:from|import)\s?\(?\s?'(\.[^'\n]*)'/g;

/** The files that a file of the repository imports by a path. */
function importsOf(file: string): string[] {
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  return Array.from(source.matchAll(RELATIVE), ([, to = '']) => path.join(path.dirname(file), to));
}

/** Tests that reach no database by what they import: they come out the same whatever its version. */
export function testsWithoutDatabase(): string[] {
  const imported = new Map<string, readonly string[]>();
  const reaches = (start: string): boolean => {
    const seen = new Set([start]);
    for (const file of seen) {
      if (DATABASES.includes(file)) return true;
      if (!file.endsWith('.ts') || !existsSync(path.join(ROOT, file))) continue;
      const next = imported.get(file) ?? importsOf(file);
      imported.set(file, next);
      for (const one of next) seen.add(one);
    }
    return false;
  };
  const tests = globSync('{packages/*/src,test}/**/*.test.ts', { cwd: ROOT });
  return tests.filter((file) => !reaches(file)).toSorted();
}
