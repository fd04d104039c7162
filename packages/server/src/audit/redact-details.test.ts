import fc from 'fast-check';
import { expect, test } from 'vitest';
import { detailsOf } from './redact-details.ts';

const SECRET = 'correct-horse-battery';

test('nothing under the name of a secret is kept, however deep', () => {
  const name = fc.constantFrom('token', 'secret_key', 'api_key', 'password', 'recovery_secret');
  const depth = fc.nat({ max: 6 });
  fc.assert(
    fc.property(name, depth, fc.boolean(), (field, levels, isList) => {
      let value: unknown = { [field]: isList ? [SECRET] : SECRET, name: 'Ann' };
      for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { of: value };
      const text = detailsOf({ input: value });
      expect(text).not.toContain(SECRET);
      expect(text).toMatch(/Ann|nested/);
    }),
  );
});

test('whatever is given, it is JSON of a bounded length', () => {
  const value = fc.object({ withBigInt: true, withTypedArray: true, withDate: true, maxDepth: 12 });
  fc.assert(
    fc.property(value, (one) => {
      const text = detailsOf(one);
      expect(text.length).toBeLessThanOrEqual(64_000);
      expect(() => JSON.parse(text)).not.toThrow();
    }),
  );
  const many = Array.from({ length: 200 }, () => 'x'.repeat(2_000));
  expect(JSON.parse(detailsOf({ many }))).toMatchObject({ left_out: { bytes: expect.any(Number) } });
});

test('our secrets are known by their form, and bytes by their digest', () => {
  const key = `fls_live_${'A'.repeat(40)}`;
  const given = { input: [key, Buffer.from('logo'), 5n, () => 1, undefined] };
  expect(JSON.parse(detailsOf(given))).toEqual({
    input: [
      '[redacted]',
      { bytes: 4, sha256: '3598ce6f965b2481fe26316c06b30950c46ac7f8e7229f104aa78f579997668d' },
      '5',
      null,
      null,
    ],
  });
});

test('a file in base64 is known by its digest too', () => {
  const file = Buffer.alloc(3_000, 'logo');
  const [bytes, text] = [{ input: file }, { input: file.toString('base64') }].map((one) => detailsOf(one));
  expect(text).toBe(bytes);
  expect(JSON.parse(detailsOf({ input: 'short' }))).toEqual({ input: 'short' });
});
