import { expect, test } from 'vitest';
import { MAIL_SETTINGS } from './settings.ts';

const { notify } = MAIL_SETTINGS;

test('addresses are typed with commas, each kept once', () => {
  expect(notify.read('ada@shop.example,ops@shop.example,ada@shop.example')).toEqual([
    'ada@shop.example',
    'ops@shop.example',
  ]);
  expect(notify.read('')).toEqual([]);
});

test.each([
  'ada',
  'ada@shop.example,,ops',
  'a@b@c',
  'ada@shop.example\r\nBcc: x@y.example',
  `${'a'.repeat(250)}@b.de`,
])('what is no address is refused in one line: %j', (text) => {
  expect(() => notify.read(text)).toThrow('mail.notify must be at most 20 addresses');
});

test('more than 20 are refused', () => {
  const some = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@shop.example`).join(',');
  expect(notify.read(some(20))).toHaveLength(20);
  expect(() => notify.read(some(21))).toThrow('at most 20');
});
