import { expect, test } from 'vitest';
import { isSameOrigin, readSessionCookie, sessionCookie } from './cookie.ts';

const TOKEN = 'a'.repeat(43);
const HTTPS = 'https://pay.example.com';
const LOCAL = 'http://127.0.0.1:4100';

test('F1: the cookie is of this host alone, unread by scripts, and sent from our own pages alone', () => {
  expect(sessionCookie(HTTPS, TOKEN)).toEqual({
    'set-cookie': `__Host-florin_session=${TOKEN}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure`,
  });
  expect(sessionCookie(LOCAL, null)).toEqual({
    'set-cookie': 'florin_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  });
});

test.each([
  ['one', HTTPS, `a=b; __Host-florin_session=${TOKEN}`, TOKEN],
  ['none', HTTPS, 'a=b', undefined],
  ['the name of plain http, which a neighbour may set', HTTPS, `florin_session=${TOKEN}`, undefined],
  [
    'two, of which one was planted',
    HTTPS,
    `__Host-florin_session=${TOKEN}; __Host-florin_session=${TOKEN}`,
    undefined,
  ],
  ['another form', HTTPS, '__Host-florin_session=short', undefined],
  ['on loopback', LOCAL, `florin_session=${TOKEN}`, TOKEN],
])('the session of a cookie: %s', (_what, url, cookie, token) => {
  expect(readSessionCookie({ headers: { cookie } }, url)).toBe(token);
});

test.each([
  [HTTPS, { origin: HTTPS }, true],
  [HTTPS, { origin: HTTPS, 'sec-fetch-site': 'same-origin' }, true],
  [HTTPS, { origin: HTTPS, 'sec-fetch-site': 'same-site' }, false],
  [HTTPS, {}, false],
  [HTTPS, { origin: 'null' }, false],
  [HTTPS, { origin: 'http://pay.example.com' }, false],
  [HTTPS, { origin: 'https://pay.example.com.evil.example' }, false],
  [HTTPS, { origin: 'https://pay.example.com:8443' }, false],
  [LOCAL, { origin: 'http://localhost:4100' }, true],
  [LOCAL, { origin: 'http://[::1]:4100' }, true],
  [LOCAL, { origin: 'http://localhost:4101' }, false],
  [LOCAL, { origin: 'http://evil.example:4100' }, false],
])('F2: of a page at %s comes %j: %j', (url, headers, isOurs) => {
  expect(isSameOrigin({ headers, repeated: new Set() }, url)).toBe(isOurs);
  expect(isSameOrigin({ headers, repeated: new Set(['origin']) }, url)).toBe(false);
});
