import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { drawn, NAMES, namesIn, PAGES } from './state-drawings.ts';
import { ROOT } from './step.ts';

const pages = PAGES.map((page) => readFileSync(page, 'utf8'));

test('the drawings of states in the docs are those of the tables that are enforced', () => {
  for (const page of pages) expect(page, 'run: node scripts/run.js scripts/draw-states.ts').toBe(drawn(page));
});

test('each resource with states is drawn once among the concepts, and once where it is described', () => {
  const [concepts = '', ...others] = pages;
  expect(namesIn(concepts).toSorted()).toEqual(NAMES.toSorted());
  expect(others.flatMap(namesIn).toSorted()).toEqual(NAMES.toSorted());
});

test('no table of moves is left out', () => {
  const files = globSync('packages/server/src/**/states.ts', { cwd: ROOT });
  const tables = files.flatMap(
    (file) => readFileSync(path.join(ROOT, file), 'utf8').match(/ = new Moves</g) ?? [],
  );
  expect(tables).toHaveLength(NAMES.length);
});
