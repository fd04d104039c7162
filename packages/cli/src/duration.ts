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
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is a whole number of at least 0.');
  return Number(text);
}
