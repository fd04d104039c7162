/** A full run: every count and every case as before a release. */
export const FULL = process.env.FLORIN_FULL === '1';

/** The count of a full run, or about a hundredth of it. */
export function scaled(full: number, ci: number = Math.ceil(full / 100)): number {
  return FULL ? full : ci;
}

/**
 * Of cases that differ in one value alone every n-th, or all of them in a full run. Places that go through the same cases
 * (the networks) take another turn each: together they go through all of them.
 *
 * @param cases such as the points at which a process is killed
 * @param turn of this place: 0, 1, … below `of`
 * @param of how many turns there are
 * @example share(POINTS, NETWORKS.indexOf(network), NETWORKS.length)
 */
export function share<T>(cases: readonly T[], turn: number, of: number): T[] {
  return FULL ? [...cases] : cases.filter((_, index) => index % of === turn % of);
}
