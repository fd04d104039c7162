import type { Epoch } from './node.ts';
import { unusable } from './node-answers.ts';

/** A blockhash may be used in so many blocks after its own. */
const LIFETIME_BLOCKS = 150n;
const KEPT = 1_000;

/**
 * Up to which block height transactions with a blockhash can be in a block. A node that names too low a height would make a
 * transaction dead that is not: no blockhash that was known when the newest block had height h is valid beyond h + 150, whatever
 * a node says, so that the newest block of two endpoints counts.
 */
export class Lifetimes {
  readonly #known = new Map<string, bigint>();

  /**
   * @param tip read after the blockhash
   * @throws ChainUnavailable where the node names a height so far ahead that the transaction would not be dead for long
   */
  note(blockhash: string, named: bigint, tip: Epoch): void {
    const most = tip.blockHeight + LIFETIME_BLOCKS;
    if (named > most + LIFETIME_BLOCKS)
      throw unusable(`a blockhash that is valid up to block ${named}, of ${tip.blockHeight} now`);
    this.#keep(blockhash, named > most ? named : most);
  }

  /** Of bytes that were signed earlier, from a blockhash that this process may not know: it was known before now. */
  of(blockhash: string, tip: Epoch): bigint {
    const known = this.#known.get(blockhash);
    if (known !== undefined) return known;
    return this.#keep(blockhash, tip.blockHeight + LIFETIME_BLOCKS);
  }

  #keep(blockhash: string, height: bigint): bigint {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= KEPT && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(blockhash, height);
    return height;
  }
}
