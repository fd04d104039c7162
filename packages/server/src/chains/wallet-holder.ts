import type { Network } from '@florin/contract/money';

/**
 * Whoever holds the keys of a merchant's wallets: the simulated chain's own tables, or a signer process. It believes no
 * database: it keeps the name of the history that it signs for, and what it has signed. The first history that asks for
 * a signature is the one; another one is let in by `claim` alone.
 */
export interface WalletHolder {
  /** Undefined: nobody has asked for a signature yet. */
  current(): Promise<HeldFor | undefined>;
  /**
   * From now on signs for that history alone, one generation later; by compare-and-set.
   *
   * @param over the generation that the caller has seen; 0: none
   * @returns false where the holder has another one by now: nothing was changed
   */
  claim(history: string, over: bigint): Promise<boolean>;
}

export interface HeldFor {
  history: string;
  /** 1, and one more with each `claim`. */
  generation: bigint;
}

/** In whose name a signature is asked for. */
export interface SigningRequest {
  /** The name of the history that the caller's database belongs to. Copies of a database have the same one. */
  history: string;
  /** The caller's id of this transaction. */
  attemptId: string;
  /** The caller's count of the attempts of this wallet, from 0 on, which it made before it asks for any signature. */
  ordinal: bigint;
  /** The attempt with the number before it; null where the caller does not know it by heart. */
  previous: string | null;
  /**
   * The ids of the attempts that it has counted before this one, in order: from that number on, or, where the holder
   * knows none of the history, from its first one. Asked only where the holder does not know the one before, as
   * attempts are not always signed in the order of their numbers.
   */
  before(from: bigint | null): Promise<readonly string[]>;
}

/**
 * The wallet's holder signs for another history by now, or has signed another attempt under this number: the caller's
 * database is a copy, or was put back to an earlier time, or another copy of it sends.
 */
export class SigningRefused extends Error {
  readonly network: Network;
  /** The one that asked. */
  readonly history: string;

  constructor(network: Network, history: string, detail: string) {
    super(`${network}: ${detail}`);
    this.network = network;
    this.history = history;
  }
}
