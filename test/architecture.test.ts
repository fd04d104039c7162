import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import oxlint from '../oxlint.config.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const SERVER = 'packages/server/src';
const TEXT = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const LINES_MAX = 200;
const FILES_OF_A_FLOW_MAX = 25;

/** Files named in a part of the page. A bare name is in the folder of the path before it: `chains/port/port.ts` … `registry.ts`. */
function filesIn(part: string): string[] {
  let folder = '';
  return [...part.matchAll(/`([\w@./-]+\.(?:ts|tsx|sql))`/g)].map(([, name = '']) => {
    if (!name.includes('/')) return path.join(folder, name);
    const file = existsSync(path.join(ROOT, SERVER, name)) ? path.join(SERVER, name) : name;
    folder = path.dirname(file);
    return file;
  });
}

/** What `routes.ts` and the like stand for in every module, and the files beside the modules. */
const GENERIC = new Set([
  'routes.ts',
  'states.ts',
  'queries.ts',
  'present.ts',
  'jobs.ts',
  'oxlint.config.ts',
]);

function sections(): [string, string][] {
  return TEXT.split(/^##+ /m)
    .slice(1)
    .map((section) => [section.split('\n', 1)[0] ?? '', section]);
}

test('every file that the page names exists', () => {
  const named = sections().flatMap(([title, text]) =>
    title.startsWith('Modules') ? [] : text.split('\n\n').flatMap((part) => filesIn(part)),
  );
  expect(named.length).toBeGreaterThan(40);
  const missing = named.filter(
    (file) => !GENERIC.has(path.basename(file)) && !existsSync(path.join(ROOT, file)),
  );
  expect(missing).toEqual([]);
});

test('a flow is followed in few files, and the page is read in one sitting', () => {
  expect(TEXT.split('\n').length).toBeLessThanOrEqual(LINES_MAX);
  const flows = sections().filter(([title]) => /^A |^Coins|^The books/.test(title));
  expect(flows.length).toBeGreaterThanOrEqual(6);
  for (const [title, text] of flows)
    expect(new Set(filesIn(text)).size, title).toBeLessThanOrEqual(FILES_OF_A_FLOW_MAX);
});

test('the table of modules is that of the lint, level by level', () => {
  const table = /```\n {5}app\.ts[\s\S]*?```/.exec(TEXT)?.[0] ?? '';
  const levels = new Map<number, string[]>();
  let level = -1;
  for (const line of table.split('\n').slice(2, -1)) {
    const [, number, names = ''] = /^(?: ?(\d+)| {5})\s*([a-z- ]+?)(?: {3,}|$)/.exec(line) ?? [];
    if (number !== undefined) level = Number(number);
    levels.set(level, [...(levels.get(level) ?? []), ...names.trim().split(/\s+/)]);
  }
  const modules = readdirSync(path.join(ROOT, SERVER), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'operator')
    .map((entry) => entry.name);
  expect([...levels.values()].flat().toSorted()).toEqual(modules.toSorted());
  const messages = JSON.stringify(oxlint);
  for (const [at, names] of levels)
    if (at > 0) for (const name of names) expect(messages).toContain(`${name} (level ${at})`);
});
