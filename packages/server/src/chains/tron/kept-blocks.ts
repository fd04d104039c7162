import { ExpiringMap } from '../blocks/expiring-map.ts';
import type { LoggedTransfer } from './block-transfers.ts';
import type { Header } from './headers.ts';

const KEPT_TRANSFERS_MAX = 150_000;

export interface FinalBlock {
  header: Header;
  transfers: readonly LoggedTransfer[];
}

/**
 * Final blocks that were read. Where a fork replaced final blocks all that is kept has to go: an id stands for all blocks before it, so the
 * highest one that the nodes have shows whether those below it are still there, if each was compared with its neighbours when it came.
 */
export class KeptBlocks {
  readonly #blocks: ExpiringMap<bigint, FinalBlock>;

  /** @param keepMs 0: nothing is kept */
  constructor(keepMs: number) {
    this.#blocks = new ExpiringMap(keepMs, KEPT_TRANSFERS_MAX);
  }

  at(height: bigint): FinalBlock | undefined {
    return this.#blocks.get(height);
  }

  keep(block: FinalBlock): void {
    this.#blocks.set(block.header.height, block, 1 + block.transfers.length);
  }

  /** The highest one up to that height. */
  upTo(height: bigint): Header | undefined {
    let highest: bigint | undefined;
    for (const one of this.#blocks.keys())
      if (one <= height && (highest === undefined || one > highest)) highest = one;
    return highest === undefined ? undefined : this.#blocks.get(highest)?.header;
  }
}

/** Whether each block is the parent of the next one, where both are there. */
export function areLinked(headers: readonly Header[]): boolean {
  return headers.every((header, i) => {
    const before = headers[i - 1];
    return before === undefined || before.height + 1n !== header.height || before.hash === header.parentHash;
  });
}
