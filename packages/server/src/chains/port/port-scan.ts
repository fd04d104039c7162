import type { Asset } from '@florin/contract/money';

export interface Head {
  height: bigint;
  /** Height of the newest final block. */
  finalHeight: bigint;
  /** Unix seconds of the newest block. */
  time: number;
}

/**
 * How new a reading of the newest blocks has to be. `now`: read after the call, or by a reading that is under way; `recent`: some seconds old at
 * most; `relaxed`: some minutes, where nobody waits for anything, so that many who ask at different moments share one.
 */
export type Freshness = 'now' | 'recent' | 'relaxed';

export interface ScanQuery {
  level: 'final' | 'tip';
  /**
   * The cursor of a `final` scan or of `cursorAt`. Null: for `final` the beginning of the chain, for `tip` the newest final
   * block. A `tip` scan from the cursor of the `final` scan before it leaves no gap between the two.
   */
  cursor: string | null;
  /** `DepositAddress.watch` of any number of addresses; a `WatchSet` where there may be too many to pass. */
  watch: readonly string[] | WatchSet;
  /**
   * For `final`: the last block to read. With a list, read `head`, then the addresses, then scan up to that head's
   * `finalHeight`, so that an address that was given out meanwhile is not skipped. A `WatchSet` is read late enough by
   * itself.
   */
  upTo?: bigint;
  /** The caller compares: it does not store the answer with its cursor, and what it was told may be forgotten. */
  isCheck?: boolean;
  /** Of the blocks up to which it reads (`recent`). */
  freshness?: 'recent' | 'relaxed' | undefined;
  /** Maximum of transfers in the answer; the adapter has a default. */
  limit?: number;
}

/** How many transfers an answer may hold, where the adapter answers with at most so many. @throws RangeError */
export function scanLimit({ limit }: Pick<ScanQuery, 'limit'>, most: number): number {
  if (limit === undefined) return most;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new RangeError('limit must be an integer of 1 or more');
  return Math.min(limit, most);
}

/**
 * Watched addresses that are looked up instead of listed. An adapter that reads blocks passes their recipients to `among`,
 * so that a scan costs what the chain did, however many addresses are watched. An adapter that can only query address by
 * address reads `each`, in parts that its nodes allow. An address is in this set before anybody sends to it.
 */
export interface WatchSet {
  /** Filters candidates (as `DepositAddress.watch`) to the watched ones. Called after their blocks were read. */
  among(candidates: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * The addresses to ask for one by one. Called after the head up to which the scan reads. Those that nobody is expected to pay are in it
   * when it is their turn: what came to one before the cursor is told then.
   */
  each(): Promise<readonly string[]>;
}

export interface ScanAnswer {
  transfers: ChainTransfer[];
  /**
   * Durable and opaque; store it in the transaction that stores the transfers. It never moves back, whatever the node
   * answers. After `tip` it is the cursor of the query: only final blocks advance it.
   */
  cursor: string;
  /**
   * False after `final`: there is more, scan on from `cursor`. False after `tip`: the answer is partial; scan for fewer
   * addresses at once.
   */
  complete: boolean;
  /**
   * Those of the watched that the nodes told nothing usable of: a later answer tells what came to them, so that nothing here shows that a
   * transfer to them is gone. Absent: none.
   */
  unread?: ReadonlySet<string>;
  /**
   * The node's head, as of this answer. A transfer that was seen before and is absent from a complete `tip` answer is gone
   * only if `head.height` has reached the block it was seen in: a lagging node has not seen it yet.
   */
  head: Head;
}

export interface ChainTransfer {
  txId: string;
  /** Its index in the transaction. */
  index: number;
  /** Null: a token that is not listed, whatever its name claims. Live networks read their listed tokens alone. */
  asset: Asset | null;
  /** The account that the tokens left, canonical; not always the signer. */
  from: string;
  /** `DepositAddress.address`. */
  to: string;
  /** The amount that arrived, above 0, in units of that token. */
  amount: bigint;
  height: bigint;
  /** Unix seconds of its block. */
  time: number;
}
