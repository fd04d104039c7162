import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
/** The codes that begin a test's name: all up to its first colon. */
const NAME = /\b(?:test|describe|describeChain)(?:\.\w+(?:\([^)\n]{0,200}\))?)?\(\s*['"`]([^'"`:\n]{1,80}):/g;
const CODE = /\b[A-Z]\d{1,2}\b|\b\d{1,2}\b/g;
const CODED = /^(?:faults? \d|[A-Z]\d)/;
/** Where a name is put together, its code comes out of a table. */
const IN_TABLE = /'(fault \d{1,2})'/g;

/** `fault 41`, `A2`; a range such as `E4 to E7` names each of its codes. */
function codesOf(prefix: string): string[] {
  const spelled = prefix
    .replace(/\bsteps? [\d and]+/g, '')
    .replace(/\b([A-Z])(\d+) to \1(\d+)/g, (_, letter: string, from: string, to: string) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${letter}${Number(from) + i}`).join(
        ', ',
      ),
    );
  return (spelled.match(CODE) ?? []).map((code) => (/^\d/.test(code) ? `fault ${code}` : code));
}

function codesOfTests(): Set<string> {
  const found = new Set<string>();
  for (const file of globSync('{packages/*/src,test}/**/*.ts', { cwd: ROOT, exclude: ['**/planted-*.ts'] })) {
    const source = readFileSync(path.join(ROOT, file), 'utf8');
    const names = [...source.matchAll(NAME)]
      .map(([, prefix = '']) => prefix)
      .filter((name) => CODED.test(name));
    const inTables = [...source.matchAll(IN_TABLE)].map(([, code = '']) => code);
    for (const name of [...names, ...inTables]) for (const code of codesOf(name)) found.add(code);
  }
  return found;
}

function codesExplained(): string[] {
  const rows = readFileSync(path.join(ROOT, 'docs/faults.md'), 'utf8').matchAll(/^\| ([A-Z]?\d{1,2}) \|/gm);
  return [...rows].map(([, code = '']) => (/^\d/.test(code) ? `fault ${code}` : code));
}

const byCode = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

test('every code in the name of a test is explained in docs/faults.md, and every code there has a test', () => {
  const used = codesOfTests();
  expect(used.size).toBeGreaterThan(100);
  expect(codesExplained().toSorted(byCode)).toEqual([...used].toSorted(byCode));
});

test('codes are read out of names', () => {
  expect(codesOf('fault 37, E4 to E7, E10')).toEqual(['fault 37', 'E4', 'E5', 'E6', 'E7', 'E10']);
  expect(codesOf('A5, steps 5 and 6')).toEqual(['A5']);
  expect(codesOf('I15 25 26')).toEqual(['I15', 'fault 25', 'fault 26']);
});
