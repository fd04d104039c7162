import { expect, test } from 'vitest';
import { sizesOf } from './sizes.ts';

const budgets = { cli: 10, 'server/src': 5, 'server/src/chains': 20, 'server/src/chains/evm': 30 };

test('a file counts for the module with the longest path, and for no other', () => {
  const files = ['cli/src/a.ts', 'server/src/b.ts', 'server/src/chains/c.ts', 'server/src/chains/evm/d.ts'];
  expect(
    sizesOf(
      files.map((file, i) => ({ file, lines: i + 1 })),
      budgets,
    ),
  ).toEqual([
    { module: 'cli', lines: 1, budget: 10 },
    { module: 'server/src', lines: 2, budget: 5 },
    { module: 'server/src/chains', lines: 3, budget: 20 },
    { module: 'server/src/chains/evm', lines: 4, budget: 30 },
  ]);
});

test('a file outside of all modules is over a budget of nothing', () => {
  expect(sizesOf([{ file: 'clients/src/a.ts', lines: 1 }], budgets)).toEqual([
    { module: 'clients/src', lines: 1, budget: 0 },
  ]);
});
