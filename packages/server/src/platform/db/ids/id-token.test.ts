import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeIdToken, encodeIdToken } from './id-token.ts';
import { newId } from './ids.ts';

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

test('a word gives back the ids and the secret that it was made of', () => {
  const edges = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
  for (const id of edges) {
    expect(decodeIdToken(encodeIdToken([id, id]), { ids: 2 })?.ids).toEqual([id, id]);
  }
  fc.assert(
    fc.property(bytes, (secret) => {
      const ids = [newId(), newId()];
      const found = decodeIdToken(encodeIdToken(ids, secret), { ids: 2, secretBytes: 16 });
      expect(found).toEqual({ ids, secret: Buffer.from(secret) });
    }),
  );
});

test('no other text is a word: other lengths, other characters, anything', () => {
  const word = encodeIdToken([newId(), newId()], randomBytes(16));
  const shape = { ids: 2, secretBytes: 16 };
  for (const text of [word.slice(3), `${word}111`, `0${word.slice(1)}`, '', 'x'.repeat(10_000)])
    expect([text, decodeIdToken(text, shape)]).toEqual([text, undefined]);
  expect(decodeIdToken(word, { ids: 2 })).toBeUndefined();
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => decodeIdToken(text, shape) === undefined));
});
