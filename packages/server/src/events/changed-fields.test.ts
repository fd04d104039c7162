import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedFields } from './changed-fields.ts';

const fields = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd'),
  fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
);

test('the event of a new resource has no previous attributes', () => {
  expect(changedFields(null, { a: 1 })).toBeNull();
});

test('changed fields have their old value, added ones null, removed ones their value', () => {
  expect(changedFields({ a: 1, b: [1], c: true }, { a: 2, b: [1], d: 'x' })).toEqual({
    a: 1,
    c: true,
    d: null,
  });
});

test('the resource with its previous attributes applied is the resource before', () => {
  fc.assert(
    fc.property(fields, fields, (before, after) => {
      const previous = changedFields(before, after);
      if (previous === undefined) {
        expect(after).toEqual(before);
        return;
      }
      const restored: Record<string, unknown> = { ...after, ...previous };
      for (const name of Object.keys(restored)) expect(restored[name] ?? null).toEqual(before[name] ?? null);
    }),
  );
});
