import { ExpiringMap } from '../blocks/expiring-map.ts';

const KEPT_MS = 3_600_000;
/** Transactions of large blocks, with the transfers that they have logged. */
const KEPT_MAX = 300_000;
const HEIGHTS_MAX = 10_000;

type Info = Record<string, unknown>;

/**
 * How blocks are to be asked for: several in one call, each in one call, or its transactions one by one, where it was too large for less. What was
 * read of a large block is kept, so that a reading that was refused in the middle goes on where it stopped.
 */
export class LargeBlocks {
  readonly #known = new ExpiringMap<bigint, 'alone' | 'in parts'>(KEPT_MS, HEIGHTS_MAX);
  readonly #refused = new ExpiringMap<'runs', true>(KEPT_MS, 1);
  readonly #infos = new ExpiringMap<string, Info>(KEPT_MS, KEPT_MAX);

  /** Whether nodes give several blocks in one answer, as far as they have been asked. */
  get comeInRuns(): boolean {
    return this.#refused.get('runs') === undefined;
  }

  /** The nodes do not answer `getblockbylimitnext`: for an hour each block is a call. */
  refuseRuns(): void {
    this.#refused.set('runs', true);
  }

  /** How it has to be read; undefined: with others. */
  how(height: bigint): 'alone' | 'in parts' | undefined {
    return this.#known.get(height);
  }

  /** Those that may be read together, if any, then each of the others alone. */
  parts(heights: readonly bigint[]): bigint[][] {
    const together = heights.filter((height) => this.#known.get(height) === undefined);
    const alone = heights.filter((height) => !together.includes(height)).map((height) => [height]);
    return together.length === 0 ? alone : [together, ...alone];
  }

  remember(height: bigint, how: 'alone' | 'in parts'): void {
    if (this.#known.get(height) !== 'in parts') this.#known.set(height, how);
  }

  /** @param block its id: another block of the same height is another one */
  info(block: string, id: string): Info | undefined {
    return this.#infos.get(`${block} ${id}`);
  }

  keep(block: string, id: string, info: Info): void {
    const logs = Array.isArray(info.log) ? info.log.length : 0;
    this.#infos.set(`${block} ${id}`, info, 1 + logs);
  }
}
