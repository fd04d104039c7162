import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cell, formatDetails, formatTable } from './table.ts';

test('columns are aligned, numbers to the right, nothing is a dash', () => {
  const rows = [
    { store_id: 'store_1', amount: '5.00', owner: null },
    { store_id: 'store_23', amount: '1200.50', owner: 'Ada' },
  ];
  expect(formatTable(rows).split('\n')).toEqual([
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

test('every row is one line, whatever is in it', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.array(fc.record({ name: text, note: text }), { minLength: 1 }), (rows) => {
      const lines = formatTable(rows).split('\n');
      expect(lines).toHaveLength(rows.length + 1);
      // Every second column begins at the same place.
      const start = lines[0]?.indexOf('NOTE') ?? -1;
      for (const [i, row] of rows.entries()) {
        const fromThere = [...(lines[i + 1] ?? '')].slice(start).join('');
        expect(fromThere.trim()).toBe(cell(row.note).trim());
      }
    }),
  );
});
