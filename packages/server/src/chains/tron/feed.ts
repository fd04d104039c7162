import { ExpiringMap } from '../blocks/expiring-map.ts';
import { Snapshots, Turns } from '../blocks/snapshots.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { Freshness } from '../port/port-scan.ts';
import { slicesOf } from '../rpc/slices.ts';
import { type LoggedTransfer, readBlockTransfers } from './block-transfers.ts';
import {
  BLOCKS_AT_ONCE,
  type IdBlock,
  readFinalBlocks,
  readFinalHeaders,
  readWithIds,
} from './final-blocks.ts';
import { type Header, readHeader } from './headers.ts';
import { areLinked, type FinalBlock, KeptBlocks } from './kept-blocks.ts';
import { LargeBlocks } from './large-blocks.ts';
import { type TokensByAccount, tokensByAccount } from './listed-tokens.ts';
import type { TronNetwork } from './network.ts';
import type { TronNode } from './node.ts';
import { orUnavailable, unusable } from './node-answers.ts';
import { TipBlocks } from './tip.ts';

/** A block. */
const REFRESH_MS = 3_000;
/** The most that a `relaxed` snapshot is old: late money on a quiet network is credited so much later. */
const RELAXED_MS = 180_000;
/** Longer than a quiet merchant's ten minutes between two scans and `RELAXED_MS`: what one merchant has read serves the others. */
const KEEP_MS = 900_000;
/** Of transactions in blocks of which the ids are kept: some twenty minutes of a busy day. */
const KEPT_IDS_MAX = 150_000;

export interface Snapshot {
  head: Header;
  /** The newest solid block. */
  final: Header;
}

export interface FeedOptions {
  /** A snapshot that is younger serves all; 0: each caller gets a new one. */
  refreshMs?: number | undefined;
  /** The same of one that is `relaxed`; for those who measure. */
  relaxedMs?: number | undefined;
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
  readonly #relaxedMs: number;
  readonly #keepMs: number;
  readonly #tip: TipBlocks;
  /** Replaced as a whole once final blocks were replaced: a read that began before writes into the old one. */
  #kept: KeptBlocks;
  readonly #snapshots = new Snapshots<Snapshot>(() => this.#read());
  readonly #turns = new Turns();
  readonly #tipTurns = new Turns();
  readonly #idTurns = new Turns();
  readonly #large = new LargeBlocks();
  #ids: ExpiringMap<bigint, IdBlock>;

  constructor(
    node: TronNode,
    network: Pick<TronNetwork, 'tokens'>,
    { refreshMs = REFRESH_MS, relaxedMs = RELAXED_MS, keepMs = KEEP_MS }: FeedOptions = {},
  ) {
    this.#node = node;
    this.#tokens = tokensByAccount(network);
    this.#refreshMs = refreshMs;
    this.#relaxedMs = refreshMs === 0 ? 0 : relaxedMs;
    this.#keepMs = keepMs;
    this.#tip = new TipBlocks(node, this.#tokens, keepMs > 0);
    this.#kept = new KeptBlocks(keepMs);
    this.#ids = this.#noIds();
  }

  /** @throws ChainUnavailable */
  async snapshot(freshness: Freshness = 'recent'): Promise<Snapshot> {
    if (freshness === 'now') return await this.#snapshots.next();
    return await this.#snapshots.youngerThan(freshness === 'relaxed' ? this.#relaxedMs : this.#refreshMs);
  }

  /** Of the last snapshot's final block, or of one before it that was read, which that snapshot has shown to be still there. */
  keptHeader(height: bigint): Header | undefined {
    const final = this.#snapshots.last?.final;
    return final?.height === height ? final : this.#kept.at(height)?.header;
  }

  /** All of these blocks' transfers in order, where two endpoints agree. All of the blocks are final. */
  async finalTransfers(from: bigint, to: bigint): Promise<LoggedTransfer[]> {
    const heights = Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i));
    const blocks: FinalBlock[] = [];
    // Some at a time: whoever reads days of blocks lets the others read theirs in between.
    for (const some of slicesOf(heights, BLOCKS_AT_ONCE)) {
      const known = this.#known(some);
      blocks.push(...(known ?? (await this.#turns.run(() => this.#readBlocks(some)))));
    }
    this.#assertLinked(blocks);
    return blocks.flatMap(({ transfers }) => transfers);
  }

  /** Undefined where one is missing. */
  #known(heights: readonly bigint[]): FinalBlock[] | undefined {
    const known = heights.flatMap((height) => this.#kept.at(height) ?? []);
    return known.length === heights.length ? known : undefined;
  }

  async #readBlocks(heights: readonly bigint[]): Promise<FinalBlock[]> {
    const kept = this.#kept;
    let blocks = heights.flatMap((height) => kept.at(height) ?? []);
    const missing = heights.filter((height) => !blocks.some(({ header }) => header.height === height));
    // The large ones last, each alone: what is whole is kept, whatever becomes of the next one.
    for (const part of this.#large.parts(missing)) {
      const found = await this.#readPart(part);
      blocks = [...blocks, ...found].sort((a, b) => (a.header.height < b.header.height ? -1 : 1));
      await this.#compareWithKept(kept, blocks);
      for (const block of found) kept.keep(block);
    }
    return blocks;
  }

  async #readPart(heights: readonly bigint[]): Promise<FinalBlock[]> {
    return (await readFinalBlocks(this.#node, heights, this.#large)).map(({ header, infos }) => ({
      header,
      transfers: readBlockTransfers(infos, header.height, this.#tokens),
    }));
  }

  /** That these blocks are of the chain of those that are kept below and above them. */
  async #compareWithKept(kept: KeptBlocks, blocks: readonly FinalBlock[]): Promise<void> {
    const [first, last] = [blocks[0]?.header, blocks.at(-1)?.header];
    if (first === undefined || last === undefined) return;
    const below = kept.upTo(first.height - 1n);
    const above = kept.at(last.height + 1n);
    this.#assertLinked([
      ...(below === undefined ? [] : [{ header: below }]),
      ...blocks,
      ...(above === undefined ? [] : [above]),
    ]);
    const isNext = below === undefined || below.height + 1n === first.height;
    if (!isNext && (await this.#isReplaced(below))) throw this.#replaced();
  }

  #assertLinked(blocks: readonly { header: Header }[]): void {
    if (!areLinked(blocks.map(({ header }) => header))) throw this.#replaced();
  }

  #replaced(): ChainUnavailable {
    this.#kept = new KeptBlocks(this.#keepMs);
    return new ChainUnavailable('trc20', 'final blocks were replaced while they were read');
  }

  /** The transfers above the final block, from that height on, in order. One endpoint suffices. */
  async tipTransfers({ head, final }: Snapshot, from: bigint): Promise<LoggedTransfer[]> {
    return await this.#tipTurns.run(async () => {
      const transfers = await this.#tip.read({ head, floor: final.height + 1n });
      return transfers.filter(({ height }) => height >= from);
    });
  }

  /**
   * Final blocks with the ids of their transactions: whoever asks next finds what was read before. They are the chain between two headers
   * that the nodes show now.
   *
   * @throws ChainUnavailable, also where they were replaced since they were read
   */
  async finalIds(from: Header, to: Header): Promise<IdBlock[]> {
    const heights = Array.from(
      { length: Number(to.height - from.height) },
      (_, i) => from.height + BigInt(i) + 1n,
    );
    const blocks: IdBlock[] = [];
    for (const some of slicesOf(heights, BLOCKS_AT_ONCE))
      blocks.push(...(await this.#idTurns.run(() => this.#readIds(some))));
    const isChain = areLinked([from, ...blocks.map(({ header }) => header)]);
    if (isChain && (blocks.at(-1)?.header ?? from).hash === to.hash) return blocks;
    this.#ids = this.#noIds();
    throw new ChainUnavailable('trc20', 'final blocks were replaced while they were read');
  }

  async #readIds(heights: readonly bigint[]): Promise<IdBlock[]> {
    const kept = this.#ids;
    const found = new Map<bigint, IdBlock>();
    const missing = heights.filter((height) => kept.get(height) === undefined);
    for (const part of this.#large.parts(missing))
      for (const block of await readWithIds(this.#node, part, this.#large)) {
        found.set(block.header.height, block);
        kept.set(block.header.height, block, 1 + block.ids.length);
      }
    const blocks = heights.flatMap((height) => found.get(height) ?? kept.get(height) ?? []);
    if (blocks.length < heights.length) throw unusable('a final block is missing');
    return blocks;
  }

  #noIds(): ExpiringMap<bigint, IdBlock> {
    return new ExpiringMap(this.#keepMs, KEPT_IDS_MAX);
  }

  /** Headers of final blocks, where two endpoints agree; a height that they do not have is absent. */
  async finalHeaders(heights: readonly bigint[]): Promise<Map<bigint, Header>> {
    return await readFinalHeaders(this.#node, heights);
  }

  async #read(): Promise<Snapshot> {
    // The final block first: the newest one that is read after it cannot be below it on any honest node.
    const final = readHeader(await orUnavailable(this.#node.newest('solid')));
    const newest = readHeader(await orUnavailable(this.#node.newest('head')));
    if (final === undefined || newest === undefined) throw unusable('there is no newest block');
    const kept = this.#kept.upTo(final.height);
    // The header of the final block has the hashes of two blocks, its own and its parent's: those need no further call.
    const told = new Map([
      [final.height, final.hash],
      [final.height - 1n, final.parentHash],
    ]);
    const known = kept && told.get(kept.height);
    const isOther = known === undefined ? await this.#isReplaced(kept) : known !== kept?.hash;
    if (isOther) this.#kept = new KeptBlocks(this.#keepMs);
    return { final, head: newest.height < final.height ? final : newest };
  }

  /** Whether a final block was replaced, and with it perhaps those before it. */
  async #isReplaced(block: Header | undefined): Promise<boolean> {
    if (block === undefined) return false;
    return (await this.finalHeaders([block.height])).get(block.height)?.hash !== block.hash;
  }
}
