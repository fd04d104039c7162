import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callbackUrls } from '../../../../../test/own-cases/outbound.ts';
import { checkCallbackUrl } from './callback-url.ts';

/** Of those that may be saved and must not be dialled: written so that they are refused when they are saved. */
const REFUSED_EARLY = new Set([
  'https://127.0.0.1%00example.com/hook',
  'https://example.com@127.0.0.1/hook',
  'https://127.0.0.1#@example.com/hook',
  'https://127.0.0.1\\@example.com/hook',
  'https://1.1.1.1 &@2.2.2.2# @3.3.3.3/hook',
]);

function isRefused(text: string): boolean {
  return 'refused' in checkCallbackUrl(text);
}

describe('bad inputs', () => {
  const at = (wanted: boolean) =>
    callbackUrls()
      .filter(
        ({ url, expect: expected }) => (expected === 'reject_at_save' || REFUSED_EARLY.has(url)) === wanted,
      )
      .map(({ url, why }) => ({ url, why }));

  test.each(at(true))('fault 33: refused when saved: $why', ({ url }) => expect(isRefused(url)).toBe(true));
  test.each(at(false))('fault 33: may be saved: $why', ({ url }) => expect(isRefused(url)).toBe(false));
});

test.each([
  ['HTTPS://EXAMPLE.com', 'https://example.com/'],
  ['https://example.com:443/a/../b?q=1', 'https://example.com/b?q=1'],
  ['https://example.com:65535/h', 'https://example.com:65535/h'],
  ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ['https://example.com?a@b', 'https://example.com/?a@b'],
  ['https://example.com/a@b:c', 'https://example.com/a@b:c'],
  ['https://0x7f.1/hook', 'https://127.0.0.1/hook'],
  ['https://[::FFFF:127.0.0.1]:8443/', 'https://[::ffff:7f00:1]:8443/'],
  ['https://example.com./h', 'https://example.com./h'],
])('%s is stored as %s', (text, url) => expect(checkCallbackUrl(text)).toEqual({ url }));

test.each([
  ['https:example.com/h', 'begin with https://'],
  ['https:/example.com/h', 'begin with https://'],
  ['https://?q', 'begin with https://'],
  ['https://:443/h', 'not a valid URL'],
  ['https://@example.com/h', 'user information'],
  ['https://example.com/h#', 'a fragment'],
  ['https://example.com/\u{feff}h', 'white space'],
  ['https://example.com/\u{3000}h', 'white space'],
  ['https://example.com/\u{7f}', 'control character'],
  ['https://example.com\t/h', 'white space'],
  [' https://example.com/h', 'white space'],
  ['https://a..example.com/h', 'host name'],
  ['https://.example.com/h', 'host name'],
  ['https://example.com../h', 'host name'],
  ['https://[::1%25lo]/h', 'not a valid URL'],
  ['https://example.com:65536/h', 'not a valid URL'],
  ['https://example.com:-1/h', 'not a valid URL'],
])('%j is refused: it %s', (text, why) => {
  const checked = checkCallbackUrl(text);
  expect('refused' in checked ? checked.refused : 'saved').toContain(why);
});

test('the limits of length hold to the character, before and after escapes', () => {
  const base = 'https://example.com/';
  expect(isRefused(base + 'a'.repeat(2_048 - base.length))).toBe(false);
  expect(isRefused(base + 'a'.repeat(2_049 - base.length))).toBe(true);
  expect(isRefused(base + 'ü'.repeat(400))).toBe(true);
  const label = 'a'.repeat(63);
  const longest = `${label}.${label}.${label}.${'a'.repeat(61)}`;
  expect(isRefused(`https://${longest}/`)).toBe(false);
  expect(isRefused(`https://${longest}./`)).toBe(false);
  expect(isRefused(`https://${longest}a/`)).toBe(true);
});

test('what is saved is in normal form: saved again it stays as it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ validSchemes: ['https'] }), fc.string({ unit: 'binary' })), (text) => {
      const first = checkCallbackUrl(text);
      if ('url' in first) expect(checkCallbackUrl(first.url)).toEqual(first);
    }),
  );
});
