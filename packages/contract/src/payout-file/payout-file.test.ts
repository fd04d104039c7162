import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { PAYOUT_ITEMS_MAX } from '../schemas/index.ts';
import { type CellFault, checkRow, PAYOUT_FIELDS } from './check-row.ts';
import { csvRows } from './csv-rows.ts';
import { decodeFile } from './decode.ts';
import { faultyRowsCsv } from './faulty-rows.ts';
import { BATCH_ITEMS_MAX, batchKey, planBatches, repeatsIn, totalOf } from './plan.ts';
import { FileFaults, readCsv, readJson, readRows } from './read-items.ts';

const HEADING = 'address,amount,network,currency,real_name,memo';
const csv = (...rows: string[]) => [HEADING, ...rows].join('\n');

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    return error instanceof FileFaults
      ? error.faults
      : [error instanceof Error ? error.message : String(error)];
  }
  return [];
}

test.each([
  ['commas', 'address,amount\nA,1.50\n'],
  ['semicolons', 'address;amount\nA;1.50\n'],
  ['tabs', 'address\tamount\nA\t1.50\n'],
  ['CRLF', 'address,amount\r\nA,1.50\r\n'],
  ['CR', 'address,amount\rA,1.50'],
  ['quotes', '"address","amount"\n"A","1.50"'],
  ['empty rows', '\n\naddress,amount\n,\n\nA,1.50\n\n'],
  ['headings as people write them', 'Address , AMOUNT\n A , 1.50 \n'],
  ['a byte order mark', '\uFEFFaddress,amount\nA,1.50\n'],
])('a file with %s is read', (_what, text) => {
  const defaults = { currency: 'USDT', network: 'trc20' } as const;
  const { items } = readCsv(decodeFile(Buffer.from(text)), defaults);
  expect(items.map(({ input, currency }) => ({ ...input, currency }))).toEqual([
    { address: 'A', amount: '1.50', network: 'trc20', currency: 'USDT' },
  ]);
});

test('what was written as CSV is read again, whatever is in the cells', () => {
  const cell = fc.string({ unit: 'binary' }).map((text) => `${text}x`);
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
    );
  fc.assert(
    fc.property(table, fc.constantFrom('\n', '\r\n'), (rows, end) => {
      // The heading shows which separator the file uses.
      const written = [rows[0]?.map((_, i) => `c${i}`) ?? [], ...rows];
      const text = written
        .map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(','))
        .join(end);
      expect([...csvRows(text)].map(({ cells }) => cells)).toEqual(written);
    }),
  );
});

const LINE = (changed: Partial<Record<string, string>>) =>
  HEADING.split(',')
    .map(
      (name) => changed[name] ?? { address: 'A', amount: '1', network: 'spl', currency: 'USDC' }[name] ?? '',
    )
    .join(',');

test.each([
  [csv(LINE({ amount: '' })), 'row 2, column amount: it is missing'],
  [csv(LINE({ amount: '"1.200,50"' })), 'row 2, column amount: "1.200,50" is not an amount such as 1200.50'],
  [csv(LINE({ amount: '-5' })), 'row 2, column amount: "-5" is not an amount such as 1200.50'],
  [
    csv(LINE({ amount: '1'.repeat(1_000_000) })),
    `row 2, column amount: "${'1'.repeat(40)}" is not an amount such as 1200.50`,
  ],
  [csv(LINE({ network: 'bitcoin' })), 'row 2, column network: "bitcoin" is not one of erc20, trc20, spl'],
  [csv(LINE({ currency: 'EUR' })), 'row 2, column currency: "EUR" is not one of USDT, USDC'],
  [csv(LINE({ address: '' })), 'row 2, column address: it is missing'],
  [
    csv(LINE({ real_name: '=HYPERLINK(1)' })),
    'row 2, column real_name: "=" at its beginning makes a formula',
  ],
  [csv(LINE({ memo: '@x' })), 'row 2, column memo: "@" at its beginning makes a formula'],
  [
    csv(LINE({ real_name: '"a\nb"' })),
    'row 2, column real_name: it has a line break or another control character',
  ],
  [
    csv(LINE({ real_name: 'a\0b' })),
    'row 2, column real_name: it has a line break or another control character',
  ],
  [csv(LINE({ memo: 'x'.repeat(129) })), 'row 2, column memo: it is longer than 128 characters'],
  [csv(`${LINE({})},x`), 'row 2: 7 cells, but the heading has 6'],
  [csv(LINE({}), '"A,1'), 'row 3, column 1: the quote is not closed'],
  [csv('"A"B,1'), 'row 2, column 1: text follows the closing quote; a quote in a cell is written twice'],
  [
    'address,price\nA,1',
    'row 1, column 2: "price" is none of address, amount, network, currency, real_name, memo',
  ],
  ['address,amount,amount\nA,1,1', 'row 1, column 3: there are two columns amount'],
  [HEADING, 'row 2: there is nobody to pay'],
])('a fault is one line that says where and what (%#)', (text, expected) => {
  const faults = faultsOf(() => readCsv(text, {}));
  expect(faults).toEqual([expected]);
});

test('every fault of 10,000 rows is found, in order', () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => LINE(i % 1_000 === 7 ? { amount: 'x' } : {}));
  expect(faultsOf(() => readCsv(csv(...rows), {}))).toEqual(
    Array.from(
      { length: 10 },
      (_, i) => `row ${i * 1_000 + 9}, column amount: "x" is not an amount such as 1200.50`,
    ),
  );
});

test('Latin-1 and UTF-16 are refused with the row', () => {
  const latin = Buffer.from(csv(LINE({}), LINE({ real_name: 'José' })), 'latin1');
  expect(faultsOf(() => decodeFile(latin))).toEqual([
    'row 3: it is not UTF-8 (as Latin-1 it would have "é"); save the file as UTF-8',
  ]);
  const wide = Buffer.from(`\uFEFF${HEADING}`, 'utf16le');
  expect(faultsOf(() => decodeFile(wide))).toEqual(['row 1: the file is UTF-16; save it as UTF-8']);
});

test.each([
  ['{', /^this is not JSON: /],
  ['{"items":[]}', /^items: there is nobody to pay$/],
  ['7', /^items: there is nobody to pay$/],
  ['{"items":[7]}', /^items\[0\]\.address: it is missing$/],
  ['{"items":[{"address":"A","amount":1.5}]}', /^items\[0\]\.amount: it must be text, such as "12\.50"$/],
  ['[{"address":"A","price":"1"}]', /^\[0\]\.price: there is no such field; there are /],
  ['{"description":1,"items":[{}]}', /^description: it must be text$/],
])('a fault of JSON is one line as well: %s', (text, expected) => {
  const faults = faultsOf(() => readJson(text, {}));
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(expected);
});

test('every item is planned once, in order, and no batch mixes or is too large', () => {
  const item = fc.record({
    network: fc.constantFrom('erc20' as const, 'trc20' as const, 'spl' as const),
    currency: fc.constantFrom('USDT' as const, 'USDC' as const),
    cents: fc.integer({ min: 1, max: 1_000 }),
  });
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 900 }), (given) => {
      const items = given.map(({ network, currency, cents }, i) => ({
        where: `row ${i + 2}`,
        locate: (field: string) => field,
        currency,
        input: { network, address: `A${i}`, amount: (cents / 100).toFixed(2) },
      }));
      const planned = planBatches({ description: undefined, items });
      for (const batch of planned) {
        expect(batch.items.length).toBeLessThanOrEqual(BATCH_ITEMS_MAX);
        expect(batch.items.every((one) => one.currency === batch.currency)).toBe(true);
        expect(batch.items.every((one) => one.input.network === batch.network)).toBe(true);
        const places = batch.items.map(({ where }) => Number(where.slice(4)));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }
      expect(new Set(planned.flatMap((batch) => batch.items))).toEqual(new Set(items));
      const cents = planned.reduce((sum, batch) => sum + Math.round(Number(totalOf(batch)) * 100), 0);
      expect(cents).toBe(given.reduce((sum, one) => sum + one.cents, 0));
    }),
  );
});

test('a row that pays the same as an earlier one is named', () => {
  const { items } = readCsv(csv(LINE({}), LINE({ amount: '2' }), LINE({ amount: '1.00' })), {});
  expect(repeatsIn(items)).toEqual([{ where: 'row 4', earlier: 'row 2' }]);
});

test('a batch holds as many items as the service takes', () => {
  expect(BATCH_ITEMS_MAX).toBe(PAYOUT_ITEMS_MAX);
});

test('a row has all of its faults, in the order of the columns, or somebody to pay', () => {
  const cells = { address: '=1', amount: '1.234', network: 'btc', real_name: 'x'.repeat(501) };
  expect(checkRow(cells, { currency: 'USDC' })).toEqual<CellFault[]>([
    { field: 'address', what: '"=" at its beginning makes a formula' },
    { field: 'amount', what: '"1.234" is not an amount such as 1200.50' },
    { field: 'network', what: '"btc" is not one of erc20, trc20, spl' },
    { field: 'real_name', what: 'it is longer than 500 characters' },
  ]);
  expect(checkRow({ address: 'A', amount: '2', network: 'TRC20' }, { currency: 'USDC' })).toEqual({
    currency: 'USDC',
    input: { address: 'A', amount: '2', network: 'trc20' },
  });
});

test('faulty rows are a file that is read again as it was, whatever is in it', () => {
  const text = fc.string({ unit: 'binary' }).filter((one) => one.trim() === one && /^[^=+\-@\t\r]/.test(one));
  const row = fc.record(Object.fromEntries(PAYOUT_FIELDS.map((field) => [field, text])), {
    requiredKeys: ['memo'],
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (rows) => {
      const faulty = rows.map((cells) => ({ cells, error: 'memo: a, "b"' }));
      expect(readRows(faultyRowsCsv(faulty)).rows.map(({ cells }) => cells)).toEqual(rows);
    }),
  );
  expect(faultyRowsCsv([{ cells: { memo: '=1' }, error: '' }])).toContain(`"'=1"`);
});

test('batches of one payout have keys of their own that a repeat has again', async () => {
  const keys = await Promise.all(['a', 'b'].flatMap((key) => [0, 1].map((index) => batchKey(key, index))));
  expect(new Set(keys).size).toBe(4);
  expect(keys[0]).toBe(await batchKey('a', 0));
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
});
