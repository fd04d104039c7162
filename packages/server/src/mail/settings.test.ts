import { expect, test } from 'vitest';
import { encodeId } from '../tenancy/index.ts';
import { isOff, MAIL_SETTINGS } from './settings.ts';

const { notify, off } = MAIL_SETTINGS;

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

const [HONEY, TEA] = ['0190f3a0-0000-7000-8000-000000000001', '0190f3a0-0000-7000-8000-000000000002'].map(
  (id) => encodeId('store', id),
) as [string, string];

test('mail is switched off by kind, by store, and by kind of a store', () => {
  const read = off.read(`receipt,${HONEY}:refund_paid,${TEA}`);
  expect(isOff(read, HONEY, 'receipt')).toBe(true);
  expect(isOff(read, HONEY, 'refund_paid')).toBe(true);
  expect(isOff(read, HONEY, 'refund_sent')).toBe(false);
  expect(isOff(read, TEA, 'refund_sent')).toBe(true);
});

test.each([
  'receipts',
  'store_1',
  `${HONEY}:receipts`,
  `${HONEY}:`,
  `${HONEY}:receipt:receipt`,
  'receipt:receipt',
  ':receipt',
])('what is no kind and no store is refused in one line: %j', (text) => {
  expect(() => off.read(text)).toThrow('mail.off must be at most 500 kinds');
});
