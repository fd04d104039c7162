import { expect, test } from 'vitest';
import { findLargeFaces, namesOf } from './faces.ts';

test('types, values, other names and own declarations of a face are counted', () => {
  const source = [
    "export { a, type B, c as d } from './a.ts';",
    "export type { E } from './e.ts';",
    'export function f() {}',
    'export const g = 1;',
    "export * from './h.ts';",
  ].join('\n');
  expect(namesOf('index.ts', source)).toEqual(['a', 'B', 'd', 'E', 'f', 'g', '*']);
});

test('a face that grows is refused, and so is a limit above what is there', () => {
  const limits = { large: 20, smaller: 20, equal: 20 };
  const counts: [string, number][] = [
    ['large', 21],
    ['smaller', 19],
    ['equal', 20],
    ['new', 13],
    ['small', 12],
  ];
  expect(findLargeFaces(counts, limits)).toEqual([
    'large names 21 things, at most 20',
    'smaller names 19 things: lower its limit from 20',
    'new names 13 things, at most 12',
  ]);
});
