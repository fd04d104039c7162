/** The sum of amounts of one unit. */
export const totalOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

/** The largest of numbers that are not negative; of none it is 0. */
export const largestOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((largest, amount) => (amount > largest ? amount : largest), 0n);
