import fc from 'fast-check';
import { expect, test } from 'vitest';
import { again, expectLinear } from '../../../../../test/linear.ts';
import { createRedactor, redact } from './redact.ts';

/** What made each expression try again from every character. */
const WORST: [what: string, worst: (length: number) => string][] = [
  ['names with a dash', again('token-')],
  ['names of one letter', again('a-')],
  ['schemes', again('a.')],
  ['schemes with slashes', again('x://')],
  ['addresses with a user and no host', again('x://u:')],
  ['a user without an end', again('x://u:', '@')],
  ['backslashes', again('\\', '"')],
  ['a name and backslashes', again('token\\')],
  ['a name and white space', again('token ')],
  ['white space behind a name', again(' ', 'x')],
  ['colons', again('a:')],
  ['quotes', again('token"')],
  ['separators', again('token=')],
  ['keys', again('fl_test_')],
  ['a long key', again('fl_test_1', '0')],
  ['beginnings of keys', again('-----BEGIN ')],
  ['beginnings of private keys', again('-----BEGIN PRIVATE KEY-----')],
  ['ends of private keys', again('-----END ')],
  ['schemes of authentication', again('Bearer ')],
  ['a scheme and white space', (length) => `Bearer${again(' ')(length - 6)}`],
];
test.each(WORST)('%s cost no more than their length', async (_what, worst) => {
  await expectLinear(worst, redact);
});

test('secrets that the process knows cost no more than the length of the text', async () => {
  await expectLinear(again('hunter'), createRedactor(['hunter2', 'hunter-hunter']));
});

const name = fc.constantFrom(
  'password',
  'x-api_key',
  'client_secret',
  'db-passwd',
  'Authorization',
  'my-token-2',
);
const separator = fc.constantFrom('=', ': ', '":"', '" : "', '\\":\\"', ' = ');
const secret = fc.stringMatching(/^[A-Za-z0-9:/?#.-]{1,20}$/).map((text) => `s3cr3t${text}`);
const around = fc.string({ unit: 'grapheme', maxLength: 20 });

test('a named secret is masked everywhere', () => {
  fc.assert(
    fc.property(fc.tuple(around, name, separator, secret, around), ([before, called, sign, value, after]) => {
      const text = `${before} ${called}${sign}${value} ${after}`;
      expect(redact(text)).not.toContain(value);
    }),
  );
});

test('a name within the value of another one is found', () => {
  expect(redact('url=https://a.test/x?token=hunter2&b=1')).toBe('url=https://a.test/x?token=[redacted]&b=1');
  expect(redact('a:b:c:password:hunter2')).toBe('a:b:c:password:[redacted]');
  expect(redact('{"password":"a b","x":1}')).toBe('{"password":"[redacted] b","x":1}');
});

test('an address keeps its user and host', () => {
  expect(redact('see postgres://a:b@c@d/e and x://u@h')).toBe('see postgres://a:[redacted]@d/e and x://u@h');
  expect(redact('a://b c://d:e@f')).toBe('a://b c://d:[redacted]@f');
});
