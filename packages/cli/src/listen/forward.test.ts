import { expect, test } from 'vitest';
import { readTarget } from './forward.ts';

test('short forms of addresses are accepted', () => {
  for (const [text, href] of [
    ['3000', 'http://localhost:3000/'],
    [':3000', 'http://localhost:3000/'],
    ['3000/hooks?a=b', 'http://localhost:3000/hooks?a=b'],
    ['localhost:3000/hooks', 'http://localhost:3000/hooks'],
    ['[::1]:3000', 'http://[::1]:3000/'],
    ['127.0.0.1:3000/hooks', 'http://127.0.0.1:3000/hooks'],
    ['shop.test', 'http://shop.test/'],
    ['https://shop.test/hooks', 'https://shop.test/hooks'],
  ]) {
    expect(readTarget(text ?? '').href).toBe(href);
  }
});

test('invalid addresses of web servers are refused', () => {
  for (const text of [
    '',
    'ftp://localhost',
    'http://user:pass@localhost',
    'http://',
    '99999',
    'file:///etc/hosts',
  ]) {
    expect(() => readTarget(text), text).toThrow(/--forward-to takes an address/);
  }
});
