import fc from 'fast-check';
import { expect, test } from 'vitest';
import { depositIndexOf, type KeyRef, rotatedEpochOf } from './key-refs.ts';

test('the number of a key is read back as it was written, by the one that it is of', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 31 - 1 }), (number) => {
      expect([depositIndexOf(`deposit:${number}`), rotatedEpochOf(`deposit:${number}`)]).toEqual([
        number,
        null,
      ]);
      expect([depositIndexOf(`hot:${number}`), rotatedEpochOf(`hot:${number}`)]).toEqual([null, number]);
    }),
  );
});

test.each<KeyRef>(['hot', 'tank'])('%s has no number', (keyRef) => {
  expect([depositIndexOf(keyRef), rotatedEpochOf(keyRef)]).toEqual([null, null]);
});

test.each([
  'deposit:',
  'deposit:-1',
  'deposit:1.5',
  'deposit:1e3',
  'deposit: 1',
  'deposit:01',
  'hot:',
  'hot:x',
])('what is no key is refused: %j', (text) => {
  expect(() => [depositIndexOf(text as KeyRef), rotatedEpochOf(text as KeyRef)]).toThrow(RangeError);
});
