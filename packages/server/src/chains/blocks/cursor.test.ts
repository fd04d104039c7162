import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstBlockAfter, isAfter, type Position, readCursor, writeCursor } from './cursor.ts';

const height = fc.bigInt(0n, 10n ** 17n);
const position: fc.Arbitrary<Position> = fc.oneof(
  fc.record({ height: fc.bigInt(-1n, 10n ** 17n) }),
  fc.record({ height, logIndex: fc.nat(1_000_000) }),
);

test('a cursor is read as it was written; every other text is refused', () => {
  fc.assert(
    fc.property(position, (one) => {
      expect(readCursor(writeCursor(one))).toEqual(one);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      let read: Position | undefined;
      try {
        read = readCursor(text);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      if (read !== undefined) expect(writeCursor(read)).toBe(text);
    }),
  );
});

test('what lies after a position is what was not read up to it: nothing twice, nothing left out', () => {
  const logs = fc.uniqueArray(fc.record({ height: fc.bigInt(0n, 9n), logIndex: fc.nat(9) }), {
    selector: (one) => `${one.height}.${one.logIndex}`,
  });
  fc.assert(
    fc.property(logs, fc.nat(99), fc.boolean(), (found, at, isWhole) => {
      found.sort((a, b) => Number(a.height - b.height) || a.logIndex - b.logIndex);
      const last = found[at % Math.max(1, found.length)];
      if (last === undefined) return;
      const cursor: Position = isWhole ? { height: last.height } : last;
      const rest = found.filter((one) => isAfter(one, cursor));
      const read = found.filter(
        (one) =>
          one.height < last.height ||
          (one.height === last.height && (isWhole || one.logIndex <= last.logIndex)),
      );
      expect([...read, ...rest]).toEqual(found);
      expect(rest.every((one) => one.height >= firstBlockAfter(cursor))).toBe(true);
    }),
  );
});
