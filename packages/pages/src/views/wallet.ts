import type { Network } from '@florin/contract/money';
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

/** A transaction for a wallet to sign and send (Solana: base64, Tron: JSON), what the wallet has too little of, or that the token refuses it. */
export type WalletTransfer =
  | Changed
  | { transaction: string }
  /** `held`: as text for people. */
  | { short: 'token'; held: string }
  /** Of the network's own coin. */
  | { short: 'fee'; coin: string }
  | { refused: 'token' };

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

/** Which wallets in the browser are charged on a network, and whom they let take coins: a contract, or a wallet of ours. */
export type MandateKind = { spender: string } & (
  | { kind: 'ethereum'; chain: WalletChain }
  /** `chain`: as the wallet standard names it. */
  | { kind: 'solana'; chain: string; name: string }
  | { kind: 'tron'; chainId: number; name: string }
);

/** The network on which a wallet can be charged, the tokens it can be charged in, and what its kind of wallet needs. */
export type MandateWallets<K extends MandateKind['kind'] = MandateKind['kind']> = Extract<
  MandateKind,
  { kind: K }
> & {
  network: Network;
  options: { token: string; contract: string }[];
  /** Link with `{tx_id}` to a transaction's page; null: there is none. */
  explorer: string | null;
};
