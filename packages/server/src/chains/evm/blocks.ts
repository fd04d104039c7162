import type { Logger } from '../../platform/observability/index.ts';
import { isLineDue } from '../../platform/observability/index.ts';
import { ExpiringMap } from '../blocks/expiring-map.ts';
import { Snapshots, Turns } from '../blocks/snapshots.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { Freshness } from '../port/port-scan.ts';
import { NodeError } from '../rpc/node.ts';
import { type Header, readHeader } from './headers.ts';
import { LogSpan } from './log-span.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readList, toQuantity } from './node-answers.ts';
import { type IndexedTransfer, readReceiptTransfers } from './receipt-transfers.ts';
import { readSnapshot, type Snapshot } from './tip.ts';
import {
  byPlace,
  type LoggedTransfer,
  readTransferLog,
  type TokensByAddress,
  TRANSFER_TOPIC,
  tokensByAddress,
} from './transfer-logs.ts';

/** A block of mainnet. */
const REFRESH_MS = 12_000;
/** As long as the longest pause between two scans: then everything is read once more, in case a node left something out. */
const KEEP_MS = 600_000;
/** About 300 in a block of mainnet, 200 bytes each. */
const KEPT_TRANSFERS_MAX = 150_000;
const KEPT_HEADERS_MAX = 10_000;
const KEPT_LOGS_MAX = 100_000;
/** Blocks above the final one that are read at once: 200 kB each on mainnet. */
const TIP_BATCH = 25;
/** A longer pause is made up by the scans themselves. */
const READ_AHEAD_MAX = 256n;

export interface FeedOptions {
  /** A snapshot that is younger serves all; 0: each caller gets a new one. */
  refreshMs?: number | undefined;
  /** How long blocks are kept; 0: not at all. */
  keepMs?: number | undefined;
}

/** What was read of one chain. */
class KeptBlocks {
  readonly final: ExpiringMap<bigint, readonly LoggedTransfer[]>;
  readonly tip: ExpiringMap<string, readonly LoggedTransfer[]>;
  readonly headers: ExpiringMap<bigint, Header>;
  readonly receiptTransfers: ExpiringMap<string, ReadonlyMap<number, IndexedTransfer>>;

  constructor(keepMs: number) {
    this.final = new ExpiringMap(keepMs, KEPT_TRANSFERS_MAX);
    this.tip = new ExpiringMap(keepMs, KEPT_TRANSFERS_MAX);
    this.headers = new ExpiringMap(keepMs, KEPT_HEADERS_MAX);
    this.receiptTransfers = new ExpiringMap(keepMs, KEPT_LOGS_MAX);
  }
}

/**
 * Reads blocks once for all merchants of this process: heads, and the `Transfer` logs of our tokens to everybody. Final
 * blocks are read with two endpoints' word; blocks above them by their hash, so that a node that lags refuses instead of
 * leaving something out.
 */
export class BlockFeed {
  readonly #node: EvmNode;
  readonly #tokens: TokensByAddress;
  readonly #refreshMs: number;
  readonly #span = new LogSpan();
  readonly #keepMs: number;
  /** Replaced as a whole once final blocks were replaced: a read that began before writes into the old one. */
  #kept: KeptBlocks;
  readonly #snapshots = new Snapshots<Snapshot>((before) => this.#read(before));
  readonly #turns = new Turns();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    node: EvmNode,
    network: Pick<EvmNetwork, 'tokens'>,
    { refreshMs = REFRESH_MS, keepMs = KEEP_MS }: FeedOptions = {},
  ) {
    this.#node = node;
    this.#tokens = tokensByAddress(network);
    this.#refreshMs = refreshMs;
    this.#keepMs = keepMs;
    this.#kept = new KeptBlocks(keepMs);
  }

  /**
   * Reads on by itself, so that an installation makes the same number of calls however many merchants scan. Without it
   * each scan reads what is missing.
   */
  start(log: Logger): void {
    this.#timer ??= setInterval(() => void this.#readAhead(log), this.#refreshMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * @param freshness `now`, or at most one or two refresh intervals old: the feed reads on by itself, so a `relaxed` reading would save no call
   * @throws ChainUnavailable
   */
  async snapshot(freshness: Freshness = 'recent'): Promise<Snapshot> {
    if (freshness === 'now') return await this.#snapshots.next();
    return await this.#snapshots.youngerThan(
      this.#timer === undefined ? this.#refreshMs : 2 * this.#refreshMs,
    );
  }

  /** All of these blocks' transfers in order, where two endpoints agree. All of the blocks are final. */
  async finalTransfers(from: bigint, to: bigint): Promise<LoggedTransfer[]> {
    return await this.#turns.run(async () => {
      const kept = this.#kept.final;
      const found: LoggedTransfer[] = [];
      for (let at = from; at <= to; ) {
        const known = kept.get(at);
        if (known !== undefined) {
          found.push(...known);
          at += 1n;
          continue;
        }
        let end = at;
        while (end < to && end - at + 1n < this.#span.blocks && kept.get(end + 1n) === undefined) end += 1n;
        const read = await this.#readFinal(at, end, kept);
        if (read === undefined) continue;
        found.push(...read);
        at = end + 1n;
      }
      return found;
    });
  }

  /** The transfers of these blocks above the final one, in order. One endpoint suffices. */
  async tipTransfers(headers: readonly Header[]): Promise<LoggedTransfer[]> {
    return await this.#turns.run(async () => {
      const kept = this.#kept.tip;
      const found = new Map<string, readonly LoggedTransfer[]>();
      for (const { hash } of headers) {
        const known = kept.get(hash);
        if (known !== undefined) found.set(hash, known);
      }
      const missing = headers.filter(({ hash }) => !found.has(hash));
      for (let i = 0; i < missing.length; i += TIP_BATCH) {
        for (const [hash, transfers] of await this.#readTip(missing.slice(i, i + TIP_BATCH))) {
          found.set(hash, transfers);
          kept.set(hash, transfers, 1 + transfers.length);
        }
      }
      return headers.flatMap(({ hash }) => found.get(hash) ?? []);
    });
  }

  /** Headers of final blocks, where two endpoints agree; a height that the node does not have is absent. */
  async finalHeaders(heights: readonly bigint[]): Promise<Map<bigint, Header>> {
    const kept = this.#kept.headers;
    const found = new Map<bigint, Header>();
    const missing: bigint[] = [];
    for (const height of new Set(heights)) {
      const known = kept.get(height);
      if (known === undefined) missing.push(height);
      else found.set(height, known);
    }
    const blocks = await this.#node.agreedMany(
      missing.map((height) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] })),
    );
    for (const block of blocks) {
      if (block instanceof NodeError) throw new ChainUnavailable('erc20', block.message, block);
      if (block === null) continue;
      const header = readHeader(block);
      found.set(header.height, header);
      kept.set(header.height, header);
    }
    return found;
  }

  /**
   * Adds each transfer's index among the logs of its own transaction, by the receipt.
   *
   * @throws ChainUnavailable where a receipt and a log differ: the block was replaced meanwhile, or the node lies
   */
  async withIndexes(
    transfers: readonly LoggedTransfer[],
    endpoints: 'one' | 'two',
  ): Promise<IndexedTransfer[]> {
    const kept = this.#kept.receiptTransfers;
    const keyOf = ({ txId, blockHash }: LoggedTransfer) => `${endpoints} ${txId} ${blockHash}`;
    const byKey = new Map(transfers.map((one) => [keyOf(one), one]));
    const missing = [...byKey].filter(([key]) => kept.get(key) === undefined);
    const read = await readReceiptTransfers(this.#node, this.#tokens, {
      endpoints,
      of: missing.map(([, one]) => one),
    });
    const fresh = new Map(missing.map(([key], i) => [key, read[i]]));
    for (const [key, found] of fresh) if (found !== undefined) kept.set(key, found, found.size);
    return transfers.map((one) => {
      const key = keyOf(one);
      const indexed = (fresh.get(key) ?? kept.get(key))?.get(one.logIndex);
      if (indexed !== undefined && isSame(indexed, one)) return indexed;
      this.#snapshots.outdate();
      throw new ChainUnavailable(
        'erc20',
        `log and receipt of ${one.txId} differ: its block may have been replaced`,
      );
    });
  }

  async #read(before: Snapshot | undefined): Promise<Snapshot> {
    const value = await readSnapshot(this.#node, before);
    if (before !== undefined && (await this.#isReplaced(before, value)))
      this.#kept = new KeptBlocks(this.#keepMs);
    return value;
  }

  /**
   * Whether final blocks were replaced. A hash stands for all blocks before it. Where the final block is an older one than
   * before, the node either lags and still has the block that was final, or its chain was cut off and grows anew.
   */
  async #isReplaced(before: Snapshot, { final }: Snapshot): Promise<boolean> {
    if (final.height === before.final.height) return final.hash !== before.final.hash;
    if (before.tip.some(({ hash }) => hash === final.hash)) return false;
    const there = await this.#node.agreed('eth_getBlockByNumber', [toQuantity(before.final.height), false]);
    return there === null || readHeader(there).hash !== before.final.hash;
  }

  async #readAhead(log: Logger): Promise<void> {
    const before = this.#snapshots.last;
    try {
      const { final, tip } = await this.#snapshots.refresh();
      const from = before === undefined ? final.height : before.final.height + 1n;
      if (from <= final.height && final.height - from < READ_AHEAD_MAX)
        await this.finalTransfers(from, final.height);
      await this.tipTransfers(tip);
    } catch (error) {
      if (isLineDue(log, 'read ahead')) log.warn({ err: error }, 'blocks cannot be read for now');
    }
  }

  /** Undefined where the range was too much for the node: the span is smaller now. */
  async #readFinal(
    from: bigint,
    to: bigint,
    kept: KeptBlocks['final'],
  ): Promise<LoggedTransfer[] | undefined> {
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    let logs: unknown;
    try {
      logs = await this.#node.agreed('eth_getLogs', [{ ...range, ...this.#filter() }]);
    } catch (error) {
      if (this.#span.shrink(error, to - from + 1n)) return undefined;
      if (error instanceof NodeError) throw new ChainUnavailable('erc20', error.message, error);
      throw error;
    }
    this.#span.grow();
    const transfers = this.#transfersIn(logs);
    const byHeight = Map.groupBy(transfers, ({ height }) => height);
    for (const height of byHeight.keys()) {
      if (height < from || height > to)
        throw new ChainUnavailable(
          'erc20',
          `a node answers with logs of block ${height}, which was not asked for`,
        );
    }
    for (let height = from; height <= to; height += 1n) {
      const own = byHeight.get(height) ?? [];
      kept.set(height, own, 1 + own.length);
    }
    return transfers;
  }

  async #readTip(headers: readonly Header[]): Promise<[string, LoggedTransfer[]][]> {
    const answers = await this.#node.callMany(
      headers.map(({ hash }) => ({
        method: 'eth_getLogs',
        params: [{ blockHash: hash, ...this.#filter() }],
      })),
    );
    return headers.map(({ hash }, i): [string, LoggedTransfer[]] => {
      const logs = answers[i];
      if (logs instanceof NodeError) {
        this.#snapshots.outdate();
        throw new ChainUnavailable('erc20', `the block ${hash} cannot be read: ${logs.message}`, logs);
      }
      const transfers = this.#transfersIn(logs);
      if (transfers.some(({ blockHash }) => blockHash !== hash))
        throw new ChainUnavailable('erc20', 'a node answers with logs of another block');
      return [hash, transfers];
    });
  }

  #filter() {
    return { address: [...this.#tokens.keys()], topics: [[TRANSFER_TOPIC]] };
  }

  #transfersIn(logs: unknown): LoggedTransfer[] {
    return readList(logs, 'the logs')
      .flatMap((log) => readTransferLog(log, this.#tokens) ?? [])
      .sort(byPlace);
  }
}

function isSame(a: LoggedTransfer, b: LoggedTransfer): boolean {
  return (
    a.asset === b.asset &&
    a.from === b.from &&
    a.to === b.to &&
    a.amount === b.amount &&
    a.height === b.height
  );
}
