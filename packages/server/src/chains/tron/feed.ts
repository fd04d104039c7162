import { ExpiringMap } from '../blocks/expiring-map.ts';
import { Snapshots, Turns } from '../blocks/snapshots.ts';
import {
  type LoggedTransfer,
  readBlockTransfers,
  type TokensByAccount,
  tokensByAccount,
} from './block-transfers.ts';
import { readFinalBlocks, readFinalHeaders } from './final-blocks.ts';
import { type Header, readHeader } from './headers.ts';
import type { TronNetwork } from './network.ts';
import type { TronNode } from './node.ts';
import { orUnavailable, unusable } from './node-answers.ts';
import { TipBlocks } from './tip.ts';

/** A block. */
const REFRESH_MS = 3_000;
/** As long as the longest pause between two scans: then everything is read once more, in case a node left something out. */
const KEEP_MS = 600_000;
const KEPT_TRANSFERS_MAX = 150_000;

export interface Snapshot {
  head: Header;
  /** The newest solid block. */
  final: Header;
}

export interface FeedOptions {
  /** A snapshot that is younger serves all; 0: each caller gets a new one. */
  refreshMs?: number | undefined;
  /** How long final blocks are kept; 0: not at all. */
  keepMs?: number | undefined;
}

/**
 * Reads blocks once for all merchants of this process. Final is what the solid view shows, by two endpoints' word: a node without
 * one, or one that is behind, decides nothing.
 */
export class TronFeed {
  readonly #node: TronNode;
  readonly #tokens: TokensByAccount;
  readonly #refreshMs: number;
  readonly #keepMs: number;
  readonly #tip: TipBlocks;
  /** By height. Replaced as a whole once final blocks were replaced: a read that began before writes into the old one. */
  #kept: ExpiringMap<bigint, readonly LoggedTransfer[]>;
  readonly #snapshots = new Snapshots<Snapshot>((before) => this.#read(before));
  readonly #turns = new Turns();

  constructor(
    node: TronNode,
    network: Pick<TronNetwork, 'tokens'>,
    { refreshMs = REFRESH_MS, keepMs = KEEP_MS }: FeedOptions = {},
  ) {
    this.#node = node;
    this.#tokens = tokensByAccount(network);
    this.#refreshMs = refreshMs;
    this.#keepMs = keepMs;
    this.#tip = new TipBlocks(node, this.#tokens, keepMs > 0);
    this.#kept = this.#emptied();
  }

  /** @throws ChainUnavailable */
  async snapshot(): Promise<Snapshot> {
    return await this.#snapshots.youngerThan(this.#refreshMs);
  }

  /** Read after the call. @throws ChainUnavailable */
  async newSnapshot(): Promise<Snapshot> {
    return await this.#snapshots.next();
  }

  /** All of these blocks' transfers in order, where two endpoints agree. All of the blocks are final. */
  async finalTransfers(from: bigint, to: bigint): Promise<LoggedTransfer[]> {
    return await this.#turns.run(async () => {
      const kept = this.#kept;
      const heights = Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i));
      const found = new Map<bigint, readonly LoggedTransfer[]>();
      for (const height of heights) {
        const known = kept.get(height);
        if (known !== undefined) found.set(height, known);
      }
      const missing = heights.filter((height) => !found.has(height));
      for await (const blocks of readFinalBlocks(this.#node, missing)) {
        for (const [height, infos] of blocks) {
          const transfers = readBlockTransfers(infos, height, this.#tokens);
          found.set(height, transfers);
          kept.set(height, transfers, 1 + transfers.length);
        }
      }
      return heights.flatMap((height) => found.get(height) ?? []);
    });
  }

  /** The transfers above the final block, from that height on, in order. One endpoint suffices. */
  async tipTransfers({ head, final }: Snapshot, from: bigint): Promise<LoggedTransfer[]> {
    return await this.#turns.run(async () => {
      const transfers = await this.#tip.read({ head, floor: final.height + 1n });
      return transfers.filter(({ height }) => height >= from);
    });
  }

  /** Headers of final blocks, where two endpoints agree; a height that they do not have is absent. */
  async finalHeaders(heights: readonly bigint[]): Promise<Map<bigint, Header>> {
    return await readFinalHeaders(this.#node, heights);
  }

  async #read(before: Snapshot | undefined): Promise<Snapshot> {
    // The final block first: the newest one that is read after it cannot be below it on any honest node.
    const final = readHeader(await orUnavailable(this.#node.newest('solid')));
    const newest = readHeader(await orUnavailable(this.#node.newest('head')));
    if (final === undefined || newest === undefined) throw unusable('there is no newest block');
    if (before !== undefined && (await this.#isReplaced(before.final, final))) this.#kept = this.#emptied();
    return { final, head: newest.height < final.height ? final : newest };
  }

  /** Whether final blocks were replaced: an id stands for all blocks before it. */
  async #isReplaced(before: Header, final: Header): Promise<boolean> {
    if (final.height === before.height) return final.hash !== before.hash;
    const there = (await this.finalHeaders([before.height])).get(before.height);
    // A node that is behind still has the blocks that were final.
    return there === undefined ? final.height > before.height : there.hash !== before.hash;
  }

  #emptied() {
    return new ExpiringMap<bigint, readonly LoggedTransfer[]>(this.#keepMs, KEPT_TRANSFERS_MAX);
  }
}
