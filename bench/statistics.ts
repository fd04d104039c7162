/** Middle value; of an even count the mean of the two in the middle. NaN where there is none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The value below which a share (0 to 1) of the values lies. NaN where there is none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A mean, and the interval that holds the true mean in 95 of 100 runs. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

/** Student's t of a 95 % interval, for 1, 2, 3 and more degrees of freedom. */
const T_95 = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1,
  2.09,
];
const T_95_OF_MANY = 1.96;

/** The mean of ratios that do not depend on each other, and its interval, by their logarithms: 2 and 0.5 have the mean 1. */
export function meanOfRatios(values: readonly number[]): Interval {
  const logs = values.map(Math.log);
  const mean = meanOf(logs);
  const variance = (meanOf(logs.map((value) => (value - mean) ** 2)) * logs.length) / (logs.length - 1);
  const half = (T_95[logs.length - 2] ?? T_95_OF_MANY) * Math.sqrt(variance / logs.length);
  return { mean: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

/** Element by element: rounds that ran beside each other are compared with each other. */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
}

/** Three significant digits, without an exponent. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `0.71 [0.65-0.80]` */
export function medianAndSpread(values: readonly number[]): string {
  if (values.length === 1) return short(values[0] ?? Number.NaN);
  return `${short(median(values))} [${short(Math.min(...values))}-${short(Math.max(...values))}]`;
}
