import type { Asset } from '@florin/contract/money';
import type { RotatedKeyRef } from './key-refs.ts';
import type { Precheck } from './port-precheck.ts';

/** A rotated hot wallet, as of the newest block. */
export interface RotatedWallet {
  keyRef: RotatedKeyRef;
  address: string;
  nextSequence: bigint;
  native: bigint;
  /** Units of each token. */
  tokens: ReadonlyMap<Asset, bigint>;
  /** Those that cannot be moved now: paused, or their issuer has blocked this wallet or the present one. */
  refused: ReadonlySet<Asset>;
  /** As of the newest final block. */
  finalTokens: ReadonlyMap<Asset, bigint>;
}

/** The merchant's account at the collector, and the wallet of its owner. */
export interface CollectorAccount {
  isMissing: boolean;
  /** Who charges, and where charges go now; empty while it is missing. */
  operator: string;
  home: string;
  /** Where charges go from `movesAt` on (Unix seconds), which may be over; null: no other home was named. */
  nextHome: { address: string; movesAt: number } | null;
  /** `isCold`: outside of the signer. A person sends its calls, and it pays for them. */
  owner: { address: string; nextSequence: bigint; native: bigint; isCold: boolean };
}

/** What a rotation goes by. Sequences are read before balances. */
export interface RotationFacts {
  /** The present hot wallet. */
  hot: string;
  /** In the order of their epochs. */
  wallets: readonly RotatedWallet[];
  /** Null: nobody is charged on this network, or the signer signs for none. */
  collector: CollectorAccount | null;
  tank: Precheck['tank'] & { nextSequence: bigint };
  /** Unix seconds of a final block; `finalTokens` are of that one or a later one. */
  finalTime: number;
  /** The most that one transaction can cost: of tokens, of native coin, to open the account, of its owner. */
  fees: Readonly<Record<'move' | 'plain' | 'account' | 'ownerCall', bigint>>;
}
