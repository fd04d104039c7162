import type { WalletSteps, WalletWord } from '../../checkout/wallet/run.ts';
import type { MandateWallets } from '../../views/wallet.ts';

export type Interval = 'day' | 'week' | 'month' | 'year';

/** What the server asks of the wallet. Amounts are units in decimal digits, the terms JSON as wallets sign it. */
export interface MandateOffer {
  wallet: string;
  cap: string;
  subscriptions: number;
  starts_at: number;
  steps: [ApprovalStep, { kind: 'activate'; typed_data: string }];
}

/** The approval is a transaction of the wallet, or a signature that the server brings to the network. */
export type ApprovalStep =
  | { kind: 'approve'; spender: string; amount: string }
  | {
      kind: 'permit';
      spender: string;
      amount: string;
      nonce: string;
      deadline: number;
      typed_data: string;
    };

/** What the payer reads before anything is signed. */
export interface MandateTerms {
  account: string;
  offer: MandateOffer;
  /** Unix seconds; 0: none. */
  endsAt: number;
}

/** A mandate from a wallet, as the code that is loaded for it sees the page. */
export interface MandateRun extends WalletSteps {
  wallets: MandateWallets;
  token: string;
  interval: Interval;
  /** @returns a word: why the server offers nothing */
  offer: (account: string) => Promise<MandateOffer | WalletWord>;
  /** An approval that this page has sent a short while ago, before it was loaded again. */
  readSent: () => { account: string; hash: string } | null;
  onSent: (sent: { account: string; hash: string }) => void;
  /** Whether the document shows these terms. */
  isShown: (terms: MandateTerms) => boolean;
  onTampered: () => void;
  /** @returns why the server refuses it, or null */
  sign: (offer: MandateOffer, signature: string, permit: string | null) => Promise<WalletWord | null>;
}
