import type { Asset } from '@florin/contract/money';

/** How wallets in payers' browsers are found that pay on a network, and by what name they know it. */
export type PayerWallets =
  /** By EIP-6963. They make the transaction themselves, of a call. */
  | { kind: 'ethereum'; chainId: number }
  /** By the wallet standard, which calls networks `solana:mainnet` and the like. They sign a transaction that was built for them. */
  | { kind: 'solana'; chain: string }
  /** By TIP-6963, or as older ones stand in the page. They sign a transaction that was built for them. */
  | { kind: 'tron'; chainId: number };

/** What a payer sends from a wallet that signs a whole transaction. */
export interface PayerTransfer {
  /** The wallet, as it names itself. */
  from: string;
  to: string;
  asset: Asset;
  units: bigint;
}

/** The transaction for the wallet to sign and send, what it has too little of, or that the token would refuse it. */
export type PayerTransaction =
  /** Solana: base64, with room for the signatures. Tron: JSON, as its nodes write unsigned transactions. */
  | { transaction: string }
  /** `held`: units of the token. `coin`: the network's own, in which fees are paid. */
  | { short: 'token'; held: bigint }
  | { short: 'fee'; coin: string }
  | { refused: 'token' };

/** The approval by which a payer's wallet lets us charge it. */
export interface PayerApproval {
  /** The wallet, as it names itself. */
  from: string;
  asset: Asset;
  /** In all, for whatever we charge of that token. */
  units: bigint;
  /** What of it is for the mandate that is given. */
  added: bigint;
}

/**
 * `isApproved`: the wallet already allows enough. `isChanged`: its allowance, shared by all mandates, changed since the payer read the terms;
 * this approval would reduce another mandate's. `units`: what the transaction approves; 0 first where the token requires a reset.
 */
export type ApprovalTransaction =
  | { isApproved: true }
  | { isChanged: true }
  | { transaction: string; units: bigint }
  | Exclude<PayerTransaction, { transaction: string }>;

/** Why nothing can be charged to a wallet that has approved once. */
export type LostApproval =
  /** It allows nobody anything: taken back, or used up. */
  | 'none'
  /** It allows somebody else, and a token account has one delegate. */
  | 'other_delegate'
  /** Its token account is closed, or another's. */
  | 'closed';

/** What pages ask a network whose wallets sign whole transactions. */
export interface PayerCalls {
  /** Undefined where `from` is no wallet, or the token is not taken there. @throws ChainUnavailable */
  payerTransfer(transfer: PayerTransfer): Promise<PayerTransaction | undefined>;
  /** The same where wallets are charged there. @throws ChainUnavailable, SignerUnavailable */
  payerApproval(approval: PayerApproval): Promise<ApprovalTransaction | undefined>;
  /** Whom payers approve coins to; null: no wallet is charged there. @throws SignerUnavailable */
  spender(): Promise<string | null>;
  /** Where the network tells more than an amount; null: the approval is there. @throws ChainUnavailable, SignerUnavailable */
  lostApproval?(wallet: Pick<PayerApproval, 'from' | 'asset'>): Promise<LostApproval | null>;
}
