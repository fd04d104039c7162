import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cell, formatDetails, formatTable } from './table.ts';

test('columns are aligned, numbers to the right, nothing is a dash', () => {
  const rows = [
    { store_id: 'store_1', amount: '5.00', owner: null },
    { store_id: 'store_23', amount: '1200.50', owner: 'Ada' },
  ];
  expect(formatTable(rows, COLUMNS).split('\n')).toEqual([
    'STORE ID   AMOUNT  OWNER',
    'store_1      5.00  -',
    'store_23  1200.50  Ada',
  ]);
  expect(formatTable([])).toBe('(none)');
});

test('details have a line for each field', () => {
  const text = formatDetails({ key_id: 'key_1', scopes: ['read', 'write'], expires_at: null });
  expect(text.split('\n')).toEqual(['key id      key_1', 'scopes      read,write', 'expires at  -']);
});

test('an escape sequence in a name does not reach the terminal', () => {
  expect(cell('a\u001b[2Jb\nc\u202ed')).toBe('a\\u{1b}[2Jb\\u{a}c\\u{202e}d');
});

const COLUMNS = 80;
/** Words of at most 40 characters, as ids and names are. */
const value = fc
  .array(fc.string({ maxLength: 40, unit: 'binary' }), { maxLength: 12 })
  .map((words) => words.join(' '));
const tidy = (text: string) => text.replaceAll(/\s/g, '');

test('whatever is in it, no line is wider than a terminal where each word fits, and nothing is lost', () => {
  const word = fc.stringMatching(/^[\w.-]{0,40}$/);
  const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
  const row = fc.record({ store_id: word, name: text, scopes: fc.array(word), note: text });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (rows) => {
      for (const printed of [formatTable(rows, COLUMNS), ...rows.map((one) => formatDetails(one, COLUMNS))]) {
        expect(Math.max(...printed.split('\n').map((line) => line.length))).toBeLessThanOrEqual(COLUMNS);
      }
      const characters = (lines: string) => [...tidy(lines)].toSorted().join('');
      const written = rows.flatMap((one) => Object.values(one).map(cell)).join('');
      expect(characters(formatTable(rows, COLUMNS).replaceAll(/STORE ID|NAME|SCOPES|NOTE/g, ''))).toBe(
        characters(written.replaceAll(/STORE ID|NAME|SCOPES|NOTE/g, '')),
      );
    }),
  );
});

test('columns that do not fit go on below, and their titles too', () => {
  const id = 'store_01m8apqghqe1e811d05j8b9twp';
  const rows = [
    { store_id: id, merchant_id: id, name: 'Shop', enabled: true, created_at: '2026-11-26T01:15:13Z' },
  ];
  expect(formatTable(rows, COLUMNS).split('\n')).toEqual([
    'STORE ID                          MERCHANT ID                       NAME',
    '  ENABLED  CREATED AT',
    `${id}  ${id}  Shop`,
    '  true     2026-11-26T01:15:13Z',
  ]);
});

test('a long text is broken between words, an address never', () => {
  const address = `0x${'a'.repeat(100)}`;
  expect(formatDetails({ note: `${'word '.repeat(20)}${address}` }, COLUMNS).split('\n')).toEqual([
    `note  ${'word '.repeat(15).trim()}`.slice(0, COLUMNS),
    `      ${'word '.repeat(5).trim()}`,
    `      ${address}`,
  ]);
});

test('characters that a terminal would obey change no line', () => {
  fc.assert(
    fc.property(value, (note) => {
      for (const printed of [formatTable([{ note }], COLUMNS), formatDetails({ note }, COLUMNS)])
        expect(tidy(printed)).toContain(tidy(cell(note)));
    }),
  );
});
