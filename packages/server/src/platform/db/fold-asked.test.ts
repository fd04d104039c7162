import { expect, test } from 'vitest';
import { foldAsked } from './fold-asked.ts';
import type { StatementResult } from './pipeline.ts';

const READ =
  '/* kept */ /* many by (id) */ select id, said from note where owner = $1 and id = any($2::text[])';
const WRITE =
  '/* kept */ /* unawaited */ /* many by () */ insert into note select $1, u.* from unnest($2::text[]) u';
const ONE_EACH = '/* kept */ /* unawaited */ /* many by (id) */ insert into note … on conflict (id) …';
const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
const told = (...ids: string[]): StatementResult => ({
  command: 'SELECT',
  rows: ids.map((id) => ({ id })),
});
const idsOf = ({ rows }: StatementResult) => rows.map(({ id }) => id);

test('equal reads of many become one, and each is told its own rows in their order', () => {
  const { statements, tellEach } = foldAsked([
    { change: a, text: READ, values: ['m', ['1', '2']] },
    { change: b, text: READ, values: ['m', []] },
    { change: c, text: READ, values: ['m', ['3']] },
  ]);
  expect(statements).toEqual([{ text: `${READ} /* of several */`, values: ['m', ['1', '2', '3']] }]);
  const each = tellEach([told('2', '3', '1', '2')]);
  expect(each.map(idsOf)).toEqual([['2', '1', '2'], [], ['3']]);
  // Dealt out by identity: a number that the database tells as another type would be nobody's, and nothing be seen.
  expect(() => tellEach([told('4')])).toThrow('nobody has asked');
});

test('what differs in a value, names the same, or is for one alone goes by itself', () => {
  const alone = 'select $1';
  const { statements, tellEach } = foldAsked([
    { change: a, text: READ, values: ['m', ['1']] },
    { change: b, text: READ, values: ['n', ['2']] },
    { change: c, text: READ, values: ['m', ['1']] },
    { change: a, text: alone, values: [1] },
    { change: b, text: alone, values: [1] },
    { change: c, text: READ, values: ['m', null] },
  ]);
  expect(statements.map(({ values }) => values)).toEqual([
    ['m', ['1']],
    ['n', ['2']],
    ['m', ['1']],
    [1],
    [1],
    ['m', null],
  ]);
  expect(tellEach([told('1'), told('2'), told('1'), told('x'), told('y'), told()]).map(idsOf)).toEqual([
    ['1'],
    ['2'],
    ['1'],
    ['x'],
    ['y'],
    [],
  ]);
});

test('writes of many become one; of those that write a row once, only what differs in it', () => {
  const { statements } = foldAsked([
    { change: a, text: WRITE, values: ['m', ['x']] },
    { change: b, text: WRITE, values: ['m', ['x']] },
    { change: a, text: ONE_EACH, values: ['m', ['x']] },
    { change: b, text: ONE_EACH, values: ['m', ['x']] },
    { change: c, text: ONE_EACH, values: ['m', ['y']] },
  ]);
  expect(statements.map(({ values }) => values[1])).toEqual([['x', 'x'], ['x', 'y'], ['x']]);
});

test('the statements of a change keep their order, whatever those of others have', () => {
  const change = (by: object, ...texts: string[]) =>
    texts.map((text) => ({
      change: by,
      text,
      values: ['m', [`${texts.indexOf(text)} of ${JSON.stringify(by)}`]],
    }));
  const asked = [...change(a, WRITE, READ), ...change(b, READ, WRITE), ...change(c, WRITE, READ, 'commit')];
  const { statements } = foldAsked(asked);
  for (const by of [a, b, c]) {
    const own = asked.filter((one) => one.change === by);
    const places = own.map(({ text, values }) =>
      statements.findIndex(
        (one) => one.text.startsWith(text) && String(one.values[1]).includes(String(values[1])),
      ),
    );
    expect(places).toEqual(places.toSorted((x, y) => x - y));
    expect(new Set(places).size).toBe(own.length);
  }
  const shorts = statements.map(({ text }) => text.replace(' /* of several */', ''));
  expect(shorts).toEqual([WRITE, READ, WRITE, 'commit']);
});

test('what the callers asked with is left as it was', () => {
  const ids = ['1'];
  foldAsked([
    { change: a, text: READ, values: ['m', ids] },
    { change: b, text: READ, values: ['m', ['2']] },
  ]);
  expect(ids).toEqual(['1']);
});
