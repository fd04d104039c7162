import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameSkeleton } from './name-skeleton.ts';

test.each([
  ['Ann', 'ann'],
  ['Ann', 'ANN'],
  ['Ann', '\u0410nn'],
  ['Ann', 'Ａｎｎ'],
  ['Ada Lovelace', 'Ada\u00a0 Lovelace'],
  ['Ian', 'lan'],
  ['Ian', '\u0406an'],
  ['Arnold', 'Amold'],
  ['Bob', 'B0b'],
  ['Мах', 'Max'],
  ['ΝΙΚ', 'NIK'],
  ['Strauß', 'STRAUSS'],
  ["O'Neil", 'O’Neil'],
  ['José', 'Jose\u0301'],
])('%s and %s look alike', (one, other) => {
  expect(nameSkeleton(one)).toBe(nameSkeleton(other));
});

test.each([
  ['Ann', 'Anna'],
  ['Ada', 'Eda'],
  ['José', 'Jose'],
  ['Иван', 'Ирина'],
  ['王芳', '王伟'],
  ['Bob', 'Rob'],
])('%s and %s are two people', (one, other) => {
  expect(nameSkeleton(one)).not.toBe(nameSkeleton(other));
});

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

test('a name has the skeleton of its other cases and compatible forms', () => {
  fc.assert(
    fc.property(name, (text) => {
      const skeleton = nameSkeleton(text);
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'])
        expect(nameSkeleton(text.normalize(form))).toBe(skeleton);
      const folded = text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
      expect(nameSkeleton(folded)).toBe(skeleton);
    }),
  );
});
