import fc from 'fast-check';
import { expect, test } from 'vitest';
import { again, expectLinear } from '../../../../../test/linear.ts';
import { createRedactor, redact, redactThoroughly } from './redact.ts';

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
  ['quotes that do not end', again('token="')],
  ['escaped quotes that do not end', again('token="\\\\"')],
  ['brackets that do not end', again('token=[')],
  ['beginnings of web tokens', again('eyJ')],
  ['web tokens', again('eyJ.')],
  ['escaped signs', again('token\\\\u003')],
  ['escaped signs of URLs', again('token%22%3')],
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
  expect(redact('{"password":"a b","x":1}')).toBe('{"password":"[redacted]","x":1}');
});

test.each([
  ['{"password":"correct horse, battery; &}","x":1}', '{"password":"[redacted]","x":1}'],
  ['{"password":"a \\" b \\\\","x":1}', '{"password":"[redacted]","x":1}'],
  ['{"a":"{\\"password\\":\\"a, b\\",\\"x\\":1}"}', '{"a":"{\\"password\\":\\"[redacted]\\",\\"x\\":1}"}'],
  ['{"secrets":["a b","c]"],"x":1}', '{"secrets":[redacted],"x":1}'],
  ['{"credential":{"a":["b"],"c":"d}"},"x":1}', '{"credential":[redacted],"x":1}'],
  ['{"password":"never ends, nor', '{"password":"[redacted]'],
  ['{"password":"","x":1}', '{"password":"","x":1}'],
  ['token\\u003dabc', 'token\\u003d[redacted]'],
  ['a=b%26token%3Dabc&c=d', 'a=b%26token%3D[redacted]&c=d'],
  ['%7B%22password%22%3A%22a%2Cb%22', '%7B%22password%22%3A%22[redacted]'],
  [`x\\u003dfls_live_${'A'.repeat(40)} y`, 'x\\u003d[redacted] y'],
  [`x%3Dfls_live_${'A'.repeat(40)} y`, 'x%3D[redacted] y'],
  [
    'private_key=a mnemonic: b "passphrase":"c d"',
    'private_key=[redacted] mnemonic: [redacted] "passphrase":"[redacted]"',
  ],
  [`see%3DeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln now`, 'see%3D[redacted] now'],
])('%j loses its secrets', (text, masked) => {
  expect(redact(text)).toBe(masked);
});

test('an address keeps its user and host', () => {
  expect(redact('see postgres://a:b@c@d/e and x://u@h')).toBe('see postgres://a:[redacted]@d/e and x://u@h');
  expect(redact('a://b c://d:e@f')).toBe('a://b c://d:[redacted]@f');
});

test('the quick search finds whatever the thorough pass would change', () => {
  const secrets = [
    'Token',
    'secret=',
    'passwd: a',
    'private_key=a',
    'mnemonic=a',
    'passphrase=a',
    'credential=a',
    'eyJhbGciOiJI.eyJzdWIiOiIxIn0.c2ln',
    '"master-key":"b"',
    'Basic a',
    'BEARER b',
    '://a:b@c',
    'fl_7Yx3bq9ZtRkWmN4pQsVfHgJc2',
    'whsec_7Yx3bq9ZtRkWmN4pQsVfHgJc2',
    'signature=1',
    'Authorization: a',
    '-----BEGIN PRIVATE KEY-----a',
  ];
  const word = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom(...secrets));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const text = words.join(' ');
      expect(redact(text)).toBe(redactThoroughly(text));
    }),
    { numRuns: 1_000 },
  );
  for (const text of secrets.filter((one) => redactThoroughly(one) !== one))
    expect(redact(text)).toContain('[redacted]');
});
