import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration, parseTime, parseWhole } from './duration.ts';

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const units = fc.constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[]));

test('a number with a unit is parsed into seconds', () => {
  fc.assert(
    fc.property(fc.nat({ max: 999_999_999 }), units, (count, unit) => {
      expect(parseDuration(`${count}${unit}`)).toBe(count * UNITS[unit]);
    }),
  );
  expect(parseDuration('0')).toBe(0);
});

test('anything else is refused rather than guessed', () => {
  for (const text of ['', '24', 'h', '1.5h', '-1h', '24 h', '1h30m', '24H', '1e3s', '٣h', '1234567890s']) {
    expect(() => parseDuration(text), text).toThrow(/whole number/);
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!/^(0|\d{1,9}[smhd])$/.test(text));
      expect(() => parseDuration(text)).toThrow(/whole number/);
    }),
  );
});

test('a whole number is digits and nothing else', () => {
  expect(parseWhole('90')).toBe(90);
  for (const text of ['', '-1', '1.0', '0x10', '1e3', ' 1'])
    expect(() => parseWhole(text), text).toThrow(/whole/);
});

test('a time is Unix seconds or a date, and nothing else', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100_000_000, max: 4_000_000_000 }), (seconds) => {
      expect(parseTime(String(seconds))).toBe(seconds);
      expect(parseTime(new Date(seconds * 1000).toISOString())).toBe(seconds);
    }),
  );
  for (const text of ['', 'tomorrow', '2026', '2026-13-40', '1.5', '-1790000000', '2h'])
    expect(() => parseTime(text), text).toThrow(/Unix seconds/);
});
