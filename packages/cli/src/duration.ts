import { InvalidArgumentError } from 'commander';

const SECONDS_PER: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90s`, `30m`, `24h`, `7d`, or `0`. @returns seconds. @throws InvalidArgumentError for anything else */
export function parseDuration(text: string): number {
  if (text === '0') return 0;
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const secondsPer = SECONDS_PER[unit ?? ''];
  if (digits === undefined || secondsPer === undefined) {
    throw new InvalidArgumentError('A duration is a whole number with s, m, h or d, such as 24h, or 0.');
  }
  return Number(digits) * secondsPer;
}

/** A whole number of at least 0. @throws InvalidArgumentError */
export function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Use a whole number of at least 0.');
  return Number(text);
}

/** Unix seconds, or a date and time as ISO 8601 writes it. @returns Unix seconds; undefined for anything else */
export function readTime(text: string): number | undefined {
  if (/^\d{9,12}$/.test(text)) return Number(text);
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text));
  return isDate ? Math.floor(Date.parse(text) / 1000) : undefined;
}

/** So many days ago. */
const MIDNIGHTS = new Map([
  ['today', 0],
  ['yesterday', 1],
]);

/**
 * The beginning or end of a stretch of time: `today` or `yesterday` for its midnight in UTC, `24h` for so long ago, or a
 * point in time. @returns Unix seconds. @throws InvalidArgumentError
 */
export function parseMoment(text: string, nowSeconds = Math.floor(Date.now() / 1000)): number {
  const daysAgo = MIDNIGHTS.get(text);
  if (daysAgo !== undefined) return nowSeconds - (nowSeconds % 86_400) - daysAgo * 86_400;
  const seconds = /^\d{1,9}[smhd]$/.test(text) ? nowSeconds - parseDuration(text) : readTime(text);
  if (seconds === undefined)
    throw new InvalidArgumentError(
      'Use today, yesterday, 24h, a date or a time such as 2026-11-20T10:00:00Z.',
    );
  return seconds;
}

/** A point in time. @returns Unix seconds. @throws InvalidArgumentError */
export function parseTime(text: string): number {
  const seconds = readTime(text);
  if (seconds === undefined)
    throw new InvalidArgumentError('Use Unix seconds, or a time such as 2026-11-20T10:00:00Z.');
  return seconds;
}
