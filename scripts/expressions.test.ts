import { expect, test } from 'vitest';
import { expressionsOf, repeatsOnlyCharacters, slownessOf } from './expressions.ts';

test('finds every expression of a source, wherever it is written', () => {
  const source = [
    'const a = /a+/g;',
    "const b = new RegExp('b+', 'i');",
    'const c = RegExp(`^\u0024{"x"}c+$`);',
    "export const AMOUNT_PATTERN = '^d+$';",
    "const schema = Type.String({ pattern: '^e+$' });",
    "const other = { name: '^f+$' };",
    'const view = <b title="/g+/">{/h+/.test("x")}</b>;',
  ].join('\n');
  expect(expressionsOf('a.tsx', source)).toEqual([
    { line: 1, pattern: 'a+', flags: 'g' },
    { line: 2, pattern: 'b+', flags: 'i' },
    { line: 3, pattern: '^xc+$', flags: '' },
    { line: 4, pattern: '^d+$', flags: '' },
    { line: 5, pattern: '^e+$', flags: '' },
    { line: 7, pattern: 'h+', flags: '' },
  ]);
});

test('says where an expression is made of what cannot be read', () => {
  const source = ['new RegExp(NAME_PATTERN);', "new RegExp('a' + tail);", 'RegExp(pattern);', "RegExp('b');"];
  const unread: number[] = [];
  expressionsOf('a.ts', source.join('\n'), unread);
  expect(unread).toEqual([2, 3]);
});

/** What judges an expression takes seconds on a machine at rest, and tens of them on one that others load. */
const LONG = { timeout: 180_000 };

/** The two of the redactor that stopped a node, and what else is slow in its own way. */
const SLOW: [pattern: string, flags: string, reason: RegExp][] = [
  ['\\b((?:[\\w-]*(?:password|secret|token)[\\w-]*|authorization)\\s*[:=])[^\\s]+', 'gi', /polynomial/],
  ['(\\b[a-z][\\w+.-]*:\\/\\/[^\\s:/@"\']*:)[^\\s"\']*@', 'gi', /polynomial/],
  ['^(a|a)+$', '', /exponential/],
  ['\\/+$', '', /polynomial/],
];
test.each(SLOW)('%s is refused', LONG, async (pattern, flags, reason) => {
  expect(await slownessOf({ pattern, flags })).toMatch(reason);
});

test('in a test of ours, what repeats only single characters needs no judging', () => {
  const repeating = ['a*b+c{2,}', '[)]+', '\\)+', '\\d+ (?:a|b)?x*$', '(a+)(a+)?$', '[^]*?\\]*', '(?=a+)a*'];
  for (const pattern of repeating) expect(repeatsOnlyCharacters({ pattern, flags: '' }), pattern).toBe(true);
  const others = [
    '^(a|a)+$',
    '(a+)+',
    '(?:a*){2,}',
    '([)]*)*',
    '(\\\\)+',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(a|[)]b)*?',
  ];
  for (const pattern of others) expect(repeatsOnlyCharacters({ pattern, flags: '' }), pattern).toBe(false);
  expect(repeatsOnlyCharacters({ pattern: '[[a]b]+', flags: 'v' })).toBe(false);
});

test('what takes linear time passes, and in a test of ours a square', LONG, async () => {
  expect(await slownessOf({ pattern: '^(?:0|[1-9][0-9]*)(?:\\.[0-9]{1,2})?$', flags: '' })).toBeUndefined();
  for (const [pattern, flags, reason] of SLOW) {
    const allowed = reason.source === 'polynomial' ? undefined : expect.stringMatching(reason);
    expect(await slownessOf({ pattern, flags }, 'polynomial')).toEqual(allowed);
  }
});
