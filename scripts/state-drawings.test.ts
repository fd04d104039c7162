import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawn, NAMES, namesIn, PAGES } from './state-drawings.ts';

const pages = PAGES.map((page) => readFileSync(page, 'utf8'));

test('the drawings of states in the docs are those of the tables that are enforced', () => {
  for (const page of pages) expect(page, 'run: node scripts/run.js scripts/draw-states.ts').toBe(drawn(page));
});

test('each resource with states is drawn once among the concepts, and once where it is described', () => {
  const [concepts = '', ...others] = pages;
  expect(namesIn(concepts).toSorted()).toEqual(NAMES.toSorted());
  expect(others.flatMap(namesIn).toSorted()).toEqual(NAMES.toSorted());
});
