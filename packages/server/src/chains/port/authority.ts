import type { Asset, Network } from '@florin/contract/money';

/** A payout batch or a refund as people approved it: a signer compares its own reading of a transaction with it. */
export interface Authority {
  kind: 'payout' | 'refund';
  merchantId: string;
  /** Of the batch or refund. */
  id: string;
  network: Network;
  asset: Asset;
  /** All of them, in order of `place`. */
  items: readonly { place: number; to: string; amount: bigint; memo: string | null }[];
  approvals: readonly SignedApproval[];
}

/** An approver's signature over the statement that the signer makes of a payout batch or refund. */
export interface SignedApproval {
  approver: string;
  /** Unix seconds; the signature is worth nothing afterwards. */
  validUntil: number;
  /** Hex: Ed25519 over the statement's bytes, EIP-712, or a passkey's over `passkey`. */
  signature: string;
  /** By which it was checked, hex: a signer's policy may name another one since. */
  key: string;
  /** Of an answer by a passkey alone, hex: what it has signed. */
  passkey?: { authenticatorData: string; clientDataJSON: string };
}
