// What a period was billed for, as levels of its sum: from 0 to 1,000, and from 5,000 to 6,000, where the items once cost
// 1,000, then 5,000 without a sum, and then 6,000. Each level is billed or not, so that it is billed once and given back once.

/** The sums above `from` up to `to`. */
export interface Level {
  from: bigint;
  to: bigint;
}
/** Apart from each other and ascending. */
export type Levels = readonly Level[];

export const levelsTo = (sum: bigint): Levels => (sum === 0n ? [] : [{ from: 0n, to: sum }]);

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** How much of a part lies in them. */
export function sumWithin(levels: Levels, part: Level): bigint {
  return levels
    .map(({ from, to }) => max(0n, min(to, part.to) - max(from, part.from)))
    .reduce((sum, one) => sum + one, 0n);
}

export function without(levels: Levels, part: Level): Levels {
  return levels
    .flatMap(({ from, to }) => [
      { from, to: min(to, part.from) },
      { from: max(from, part.to), to },
    ])
    .filter(({ from, to }) => from < to);
}

export function withAll(levels: Levels, part: Level): Levels {
  const touching = levels.filter(({ from, to }) => from <= part.to && to >= part.from);
  const whole = {
    from: touching.reduce((from, one) => min(from, one.from), part.from),
    to: touching.reduce((to, one) => max(to, one.to), part.to),
  };
  const apart = levels.filter((one) => !touching.includes(one));
  return [
    ...apart.filter(({ to }) => to < whole.from),
    whole,
    ...apart.filter(({ from }) => from > whole.to),
  ];
}
