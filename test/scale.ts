/** A full run: every count as it is before a release. */
export const FULL = process.env.FLORIN_FULL === '1';

/** The count of a full run, or about a hundredth of it. */
export function scaled(full: number, ci: number = Math.ceil(full / 100)): number {
  return FULL ? full : ci;
}
