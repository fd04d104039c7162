import { ChainUnavailable } from '../port/port-errors.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { blockRequest, readBlockInfos } from './block-infos.ts';
import { type LoggedTransfer, readBlockTransfers } from './block-transfers.ts';
import { type Header, readHeader } from './headers.ts';
import { LargeBlocks } from './large-blocks.ts';
import type { TokensByAccount } from './listed-tokens.ts';
import type { TronNode } from './node.ts';
import { readResult } from './node-answers.ts';

const TRIES = 3;
/** Blocks that are read again at once where the chain has forked. */
const FORK_STEP = 4n;
/** Ten minutes: 19 are usual. */
const TIP_MAX = 200n;

interface TipBlock {
  header: Header;
  transfers: readonly LoggedTransfer[];
}

/**
 * The blocks above the final one. They are read by their heights, and linked by their parents: of those that are known, only what a fork
 * replaced is read again. They decide nothing.
 */
export class TipBlocks {
  readonly #node: TronNode;
  readonly #tokens: TokensByAccount;
  readonly #keeps: boolean;
  readonly #large = new LargeBlocks();
  #known = new Map<bigint, TipBlock>();

  /** @param keeps false: each reading is a whole one */
  constructor(node: TronNode, tokens: TokensByAccount, keeps: boolean) {
    this.#node = node;
    this.#tokens = tokens;
    this.#keeps = keeps;
  }

  /** The transfers from `floor` up to the head, in order. @throws ChainUnavailable, also where blocks change faster than they are read */
  async read({ head, floor }: { head: Header; floor: bigint }): Promise<LoggedTransfer[]> {
    if (head.height - floor > TIP_MAX)
      throw new ChainUnavailable('trc20', 'the solid block is too far behind the newest one');
    const kept = this.#keeps ? [...this.#known] : [];
    this.#known = new Map(kept.filter(([height]) => height >= floor && height <= head.height));
    for (let left = TRIES; left > 0; left--) {
      const lowest = this.#lowestUnlinked(head, floor);
      if (lowest === undefined) {
        const blocks = [...this.#known].sort(([a], [b]) => (a < b ? -1 : 1));
        return blocks.flatMap(([, { transfers }]) => transfers);
      }
      await this.#readFrom(lowest, head.height);
    }
    throw new ChainUnavailable('trc20', 'blocks changed while they were read');
  }

  /** From where on blocks have to be read; undefined: what is known is the chain of that head. */
  #lowestUnlinked(head: Header, floor: bigint): bigint | undefined {
    let wanted = head.hash;
    for (let height = head.height; height >= floor; height -= 1n) {
      const known = this.#known.get(height)?.header;
      if (known?.hash === wanted) wanted = known.parentHash;
      else return this.#beginOfReading(height, floor);
    }
    return undefined;
  }

  /** Down to the newest block that may be on the same chain. */
  #beginOfReading(height: bigint, floor: bigint): bigint {
    if (this.#known.has(height)) return height - FORK_STEP < floor ? floor : height - FORK_STEP;
    let lowest = height;
    while (lowest > floor && !this.#known.has(lowest - 1n)) lowest -= 1n;
    return lowest;
  }

  async #readFrom(lowest: bigint, highest: bigint): Promise<void> {
    const heights = Array.from({ length: Number(highest - lowest) + 1 }, (_, i) => lowest + BigInt(i));
    for (const part of this.#large.parts(heights)) await this.#readPart(part);
  }

  async #readPart(heights: readonly bigint[]): Promise<void> {
    // The transactions first: a block that is replaced in between shows by its id.
    const ask = (requests: readonly NodeRequest[]) => this.#node.callMany(requests);
    const infos = await readBlockInfos({ view: 'head', ask, large: this.#large }, heights);
    const headers = await ask(heights.map((height) => blockRequest('head', height, false)));
    for (const [i, height] of heights.entries()) {
      const header = readHeader(readResult(headers[i]));
      const found = infos[i] ?? [];
      const transfers = readBlockTransfers(found, height, this.#tokens);
      const isWhole = found.length > 0 || header?.isEmpty === true;
      if (header !== undefined && isWhole) this.#known.set(height, { header, transfers });
      else this.#known.delete(height);
    }
  }
}
