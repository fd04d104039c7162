import type { Texts } from '../texts.ts';

/** A chain, as wallets must know it. */
export interface WalletChain {
  id: number;
  name: string;
  /** A node with which a wallet may add a chain that it does not know; null: the payer adds it by hand. */
  endpoint: string | null;
}

/** What a wallet in the payer's browser shall do, and the words for what may happen. */
export interface WalletOrder {
  chain: WalletChain;
  /** A call of the token's contract. */
  call: { to: string; data: string };
  texts: Texts<'wallet'>;
}

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
