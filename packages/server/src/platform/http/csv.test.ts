import Type from 'typebox';
import { expect, test } from 'vitest';
import { closingLine, columnsOfItem, headingLine, itemLine } from './csv.ts';
import { prefersCsv } from './export.ts';

const time = Type.Integer({ format: 'unix-time' });
const ITEM = Type.Object({
  id: Type.String(),
  amount: Type.Integer(),
  created: time,
  completed_at: Type.Union([time, Type.Null()]),
  note: Type.Optional(Type.String()),
  exceptions: Type.Array(Type.String()),
  metadata: Type.Record(Type.String(), Type.Number()),
});
const columns = columnsOfItem(ITEM);
const line = (item: object) => itemLine(columns, item);

test('headings are the fields of the schema, times end in _utc, lines in CRLF', () => {
  expect(headingLine(columns)).toBe('id,amount,created_utc,completed_at_utc,note,exceptions,metadata\r\n');
  expect(closingLine(2)).toBe('# 2 rows\r\n');
});

test('times are what spreadsheets read, absent and null fields are empty, objects are JSON', () => {
  const item = {
    id: 'pay_1',
    amount: 1999,
    created: 1_764_000_000,
    completed_at: null,
    exceptions: ['late', 'overpaid'],
    metadata: { cart: 7 },
  };
  expect(line(item)).toBe('pay_1,1999,2025-11-24 16:00:00,,,late overpaid,"{""cart"":7}"\r\n');
});

test.each([
  ['plain text', 'plain text'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  [' space ', '" space "'],
  ['Größe ñ 漢', 'Größe ñ 漢'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '"\'\t\'=1"'],
  ['\r=1', '"\'\r\'=1"'],
  ['＝1+1', "'＝1+1"],
  ['=HYPERLINK("http://evil.example","x")', '"\'=HYPERLINK(""http://evil.example"",""x"")"'],
  // Where a program splits at semicolons, the second half is a cell of its own.
  ['x;=1+1', '"x;\'=1+1"'],
  ['x\n=1+1', '"x\n\'=1+1"'],
  ['a-b', 'a-b'],
  ['1=1', '1=1'],
])('the text %j is the cell %j', (text, cell) => {
  expect(line({ id: text, exceptions: [], metadata: {} })).toBe(`${cell},,,,,,{}\r\n`);
});

test('formulas in lists and in JSON are as harmless', () => {
  expect(line({ exceptions: ['=1', 'b'], metadata: {} })).toContain(",'=1 b,");
});

test.each([
  ['text/csv', true],
  ['text/csv; charset=utf-8', true],
  ['TEXT/CSV', true],
  ['text/csv, application/json;q=0.5', true],
  ['application/json;q=0.9, text/csv', true],
  ['text/csv, application/json', true],
  ['application/json, text/csv', false],
  ['text/csv;q=0', false],
  ['text/csv;q=0.2, application/json', false],
  ['application/json', false],
  ['*/*', false],
  ['text/*', false],
  ['text/html,*/*;q=0.8', false],
  ['text/csvx', false],
  ['', false],
  [undefined, false],
])('Accept: %s prefers CSV: %s', (accept, prefers) => {
  expect(prefersCsv(accept)).toBe(prefers);
});
