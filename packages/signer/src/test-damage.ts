import fc from 'fast-check';
import { concat } from './bytes.ts';
import { BadEncoding } from './rlp.ts';

/** A few bytes are changed, put in, taken out or put behind. */
export const damageOf = (...bytes: readonly number[]) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom('change', 'insert', 'remove', 'append', 'cut'),
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      byte: fc.constantFrom(...bytes),
    }),
    { minLength: 1, maxLength: 3 },
  );
export type Damage = ReturnType<typeof damageOf> extends fc.Arbitrary<infer T> ? T : never;

export function damaged(whole: Uint8Array, list: Damage): Uint8Array {
  return list.reduce((now, { kind, at, byte }) => {
    const place = Math.floor(at * now.length);
    const [before, after] = [now.subarray(0, place), now.subarray(place)];
    if (kind === 'change') return concat(before, Uint8Array.of(byte), after.subarray(1));
    if (kind === 'insert') return concat(before, Uint8Array.of(byte), after);
    if (kind === 'remove') return concat(before, after.subarray(1));
    return kind === 'append' ? concat(now, Uint8Array.of(byte)) : before;
  }, whole);
}

export function outcome<T>(read: () => T): T | 'refused' {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadEncoding) return 'refused';
    throw error;
  }
}
