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

/** The transaction for the wallet to sign and send, or what it has too little of. */
export type PayerTransaction =
  /** Solana: base64, with room for the signatures. Tron: JSON, as its nodes write unsigned transactions. */
  | { transaction: string }
  /** `held`: units of the token. `coin`: the network's own, in which fees are paid. */
  | { short: 'token'; held: bigint }
  | { short: 'fee'; coin: string };
