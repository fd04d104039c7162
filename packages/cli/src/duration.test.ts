import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration, parseMoment, parseTime, parseWhole } from './duration.ts';

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

test('a moment is a day in UTC, so long ago, or a time', () => {
  const now = Date.parse('2026-11-24T19:30:00Z') / 1000;
  const moments: [string, string][] = [
    ['today', '2026-11-24T00:00:00Z'],
    ['yesterday', '2026-11-23T00:00:00Z'],
    ['24h', '2026-11-23T19:30:00Z'],
    ['90s', '2026-11-24T19:28:30Z'],
    ['2026-11-20', '2026-11-20T00:00:00Z'],
    ['2026-11-20T10:00:00+01:00', '2026-11-20T09:00:00Z'],
    ['1764000000', '2025-11-24T16:00:00Z'],
  ];
  for (const [text, time] of moments)
    expect([text, parseMoment(text, now)]).toEqual([text, Date.parse(time) / 1000]);
  for (const text of ['', 'tomorrow', 'Today', '24', '1 day', '2026-13-01', 'constructor'])
    expect(() => parseMoment(text, now), text).toThrow(/Use today/);
});
