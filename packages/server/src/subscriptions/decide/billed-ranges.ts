// The billed parts of a period's sum, as ranges. Example: the items cost 1,000 (billed), then 5,000 (not billed, as the
// change was made without proration), then 6,000 (the difference is billed): the ranges are 0 to 1,000 and 5,000 to
// 6,000. So each part is billed once and credited once.

/** The part of a sum above `from`, up to `to`. */
export interface Range {
  from: bigint;
  to: bigint;
}
/** Disjoint and ascending. */
export type Ranges = readonly Range[];

export const rangesTo = (sum: bigint): Ranges => (sum === 0n ? [] : [{ from: 0n, to: sum }]);

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** The size of the intersection of `part` and the ranges. */
export function sumWithin(ranges: Ranges, part: Range): bigint {
  return ranges
    .map(({ from, to }) => max(0n, min(to, part.to) - max(from, part.from)))
    .reduce((sum, one) => sum + one, 0n);
}

export function without(ranges: Ranges, part: Range): Ranges {
  return ranges
    .flatMap(({ from, to }) => [
      { from, to: min(to, part.from) },
      { from: max(from, part.to), to },
    ])
    .filter(({ from, to }) => from < to);
}

export function withAll(ranges: Ranges, part: Range): Ranges {
  const touching = ranges.filter(({ from, to }) => from <= part.to && to >= part.from);
  const whole = {
    from: touching.reduce((from, one) => min(from, one.from), part.from),
    to: touching.reduce((to, one) => max(to, one.to), part.to),
  };
  const apart = ranges.filter((one) => !touching.includes(one));
  return [
    ...apart.filter(({ to }) => to < whole.from),
    whole,
    ...apart.filter(({ from }) => from > whole.to),
  ];
}
