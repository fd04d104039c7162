import { expect, test } from 'vitest';
import { findLargeFaces, namesOf } from './faces.ts';

test('values, other names and own declarations of a face are counted, types are not', () => {
  const source = [
    "export { a, type B, c as d } from './a.ts';",
    "export type { E } from './e.ts';",
    'export interface F {}',
    'export function g() {}',
    'export const h = 1;',
    "export * as i from './i.ts';",
    "export * from './j.ts';",
  ].join('\n');
  expect(namesOf('index.ts', source)).toEqual(['a', 'd', 'g', 'h', 'i', '*']);
});

test('a face that names more than twelve things is refused', () => {
  const counts: [string, number][] = [
    ['large', 13],
    ['small', 12],
  ];
  expect(findLargeFaces(counts)).toEqual(['large names 13 things, at most 12']);
});
