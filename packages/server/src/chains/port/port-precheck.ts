import type { Asset } from '@florin/contract/money';

/** Transactions that are to be sent: payments of the hot wallet, or sweeps that the gas tank sends. */
export type PrecheckRequest =
  | { kind: 'transfers'; asset: Asset; transactions: readonly (readonly PrecheckedItem[])[] }
  /** Deposit addresses of each. */
  | { kind: 'sweeps'; asset: Asset; transactions: readonly number[] };

export interface PrecheckedItem {
  itemId: string;
  place: number;
  to: string;
  amount: bigint;
}

/** Why the token would refuse a payment. */
type UnpayableReason =
  | 'token_paused'
  | 'sender_blacklisted'
  | 'contract_blacklisted'
  | 'recipient_blacklisted';

/** `native` amounts are in the smallest unit of the network's own coin. */
export interface Precheck {
  /** Why nothing of the request can be paid now; null: nothing is known against it. */
  refused: Exclude<UnpayableReason, 'recipient_blacklisted'> | null;
  /** Items that the token refuses whatever else is paid. */
  unpayable: ReadonlySet<string>;
  /** The most that each transaction can cost, in the order of the request. */
  fees: readonly bigint[];
  /** What the sender holds. */
  native: bigint;
  /** What the payout contract may pull from the sender; null where it needs nothing. */
  allowance: bigint | null;
  /** The sender's contract for sweeps is not on the chain yet. */
  isDelegateMissing: boolean;
  /** The most that each of the movements can cost that may have to come first. */
  movementFees: Readonly<Record<'gas' | 'approve' | 'deploy', bigint>>;
  /** The gas tank and what it holds. */
  tank: { address: string; native: bigint; nextSequence: bigint };
}
