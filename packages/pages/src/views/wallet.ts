import type { Texts } from '../texts.ts';

/** A chain, as wallets must know it. */
export interface WalletChain {
  id: number;
  name: string;
  /** A node with which a wallet may add a chain that it does not know; null: the payer adds it by hand. */
  endpoint: string | null;
}

/** By now the page would show something else, and the payer should see that first. */
type Changed = { isChanged: true };

/** What a wallet in the payer's browser shall do, and the words for what may happen. */
export type WalletOrder =
  | Changed
  | {
      kind: 'ethereum';
      chain: WalletChain;
      /** A call of the token's contract. */
      call: { to: string; data: string };
      texts: Texts<'wallet'>;
    }
  /** It signs a transaction that is built once its account is known (`WalletTransfer`). */
  | { kind: 'solana' | 'tron'; texts: Texts<'wallet'> };

/** A transaction for a wallet to sign and send (Solana: base64, Tron: JSON), or what the wallet has too little of. */
export type WalletTransfer =
  | Changed
  | { transaction: string }
  /** `held`: as text for people. */
  | { short: 'token'; held: string }
  /** Of the network's own coin. */
  | { short: 'fee'; coin: string };

/** A text for the wallet to sign. The page brings the token back with the signature. */
export interface WalletText {
  text: string;
  token: string;
}

/**
 * What came of a signature: the wallet is proven; it is not this wallet's, or not of this text; it came too late; the
 * payment has another wallet; the network cannot be asked now.
 */
export type ProofOutcome = 'proven' | 'signature' | 'expired' | 'other' | 'away';

/** What a wallet in the browser is asked for to be charged: by which contract, and in which tokens. */
export interface MandateWallets {
  chain: WalletChain;
  /** The contract that charges. */
  collector: string;
  options: { token: string; contract: string }[];
  /** Link with `{tx_id}` to a transaction's page; null: there is none. */
  explorer: string | null;
}
