import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { baseOf, compareTransfers, isAfter, readCursor, writeCursor } from './cursor.ts';

const TX = '5'.repeat(88);
const slot = fc.bigInt({ min: -1n, max: 10n ** 17n });
const position = fc.record(
  { slot, page: fc.record({ txId: fc.constant(TX), index: fc.nat(1_000_100), base: slot }) },
  { requiredKeys: ['slot'] },
);

describe('cursors', () => {
  test('a cursor is read back as it was written', () => {
    fc.assert(
      fc.property(position, (one) => {
        const read = readCursor(writeCursor(one));
        expect(read).toEqual(one);
        expect(baseOf(read)).toBe(one.page?.base ?? one.slot);
      }),
    );
  });

  test('what stands before a position and what stands behind it is everything', () => {
    const transfer = fc.record({
      height: fc.bigInt({ min: 0n, max: 3n }),
      txId: fc.constantFrom('a', 'b'),
      index: fc.nat(2),
    });
    fc.assert(
      fc.property(transfer, transfer, (last, one) => {
        const { height, txId, index } = last;
        const at = { slot: height, page: { txId, index, base: -1n } };
        expect(isAfter(one, at)).toBe(compareTransfers(one, last) > 0);
        expect(isAfter(one, { slot: height })).toBe(one.height > height);
      }),
    );
  });

  test.each(['', 'x', '1.2.3', '01', '-2', '5:a:1:0', `5:${TX}:1`, `5:${TX}:-1:0`, '5:'])(
    '%j is none',
    (text) => {
      expect(() => readCursor(text)).toThrow(RangeError);
    },
  );
});
