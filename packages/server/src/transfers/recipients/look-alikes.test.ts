import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lookOf, markRecipient } from './look-alikes.ts';

const digits = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((all) => all.join(''));
const hex = digits('0123456789abcdef', 40).map((text) => `0x${text}`);
const base58 = digits('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 33).map(
  (text) => `T${text}`,
);
const address = fc.oneof(hex, base58);

const paid = (...addresses: string[]) => addresses.map((one) => ({ address: one, isApproved: true }));

test('who was paid is known, in whatever case hex is written', () => {
  fc.assert(
    fc.property(address, fc.array(address), (own, others) => {
      expect(markRecipient(own, paid(...others, own))).toMatchObject({ isNew: false, looksLike: null });
      if (own.startsWith('0x'))
        expect(markRecipient(`0x${own.slice(2).toUpperCase()}`, paid(own)).isNew).toBe(false);
    }),
  );
});

test('the same four characters at both ends and others between them are a look-alike', () => {
  fc.assert(
    fc.property(address, fc.nat(), (own, place) => {
      const head = own.startsWith('0x') ? 6 : 4;
      const at = head + (place % (own.length - head - 4));
      const other = `${own.slice(0, at)}${own[at] === '2' ? '3' : '2'}${own.slice(at + 1)}`;
      expect(lookOf(other)).toBe(lookOf(own));
      const alike = { looksLike: own, isAlikeApproved: true };
      expect(markRecipient(other, paid(own))).toEqual({ isNew: true, ...alike });
      // Whoever makes such an address has it paid a little first.
      expect(markRecipient(other, paid(own, other))).toEqual({ isNew: false, ...alike });
      const unasked = { address: other, isApproved: false };
      expect(markRecipient(other, [unasked, ...paid(own)])).toEqual({ isNew: true, ...alike });
      // The genuine one is told from what imitates it, and of several the one is named that people approved.
      const genuine = { isNew: false, looksLike: other, isAlikeApproved: false };
      expect(markRecipient(own, [unasked, ...paid(own)])).toEqual(genuine);
      const third = `${own.slice(0, at)}${own[at] === '4' ? '5' : '4'}${own.slice(at + 1)}`;
      expect(markRecipient(third, [unasked, ...paid(own)])).toEqual({ isNew: true, ...alike });
    }),
  );
});

test('in base58 another case is another address, and looks alike', () => {
  const own = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  expect(markRecipient(own.toLowerCase(), paid(own))).toMatchObject({ isNew: true, looksLike: own });
  expect(markRecipient('TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', paid(own))).toEqual({
    isNew: true,
    looksLike: null,
    isAlikeApproved: false,
  });
});
