import type {
  PageRun,
  StandardWallet,
  TronProvider,
  WalletSteps,
  WalletWord,
} from '../../checkout/wallet/run.ts';
import type { MandateWallets } from '../../views/wallet.ts';

export type Interval = 'day' | 'week' | 'month' | 'year';

/** What the server asks of the wallet. Amounts are units in decimal digits. */
export interface MandateOffer {
  wallet: string;
  cap: string;
  subscriptions: number;
  starts_at: number;
  /** The terms are JSON as wallets sign it, or a text. */
  steps: [ApprovalStep, { kind: 'activate'; typed_data: string | null; message: string | null }];
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

/** An approval that this page has sent a short while ago, before it was loaded again. */
export interface SentApproval {
  account: string;
  hash: string;
  amount: string;
}

/** A mandate from a wallet, as the code that is loaded for it sees the page. */
export interface MandateRun extends Pick<PageRun, 'isStopped' | 'say' | 'onTampered'> {
  token: string;
  /** Of the token, on the wallet's network. */
  contract: string;
  interval: Interval;
  /** @returns a word: why the server offers nothing */
  offer: (account: string) => Promise<MandateOffer | WalletWord>;
  readSent: () => (SentApproval & { atMs: number }) | null;
  onSent: (sent: SentApproval) => void;
  /** Whether the document shows these terms. */
  isShown: (terms: MandateTerms) => boolean;
  /** @returns why the server refuses it, or null */
  sign: (offer: MandateOffer, signature: string, permit: string | null) => Promise<WalletWord | null>;
}

/** From a wallet that makes its transactions itself. */
export interface EthereumMandate extends MandateRun, WalletSteps {
  wallets: MandateWallets<'ethereum'>;
}

/** An approval as it stands now: `transaction` is null once the wallet allows as much, and `amount` what it approves. */
export interface BuiltApproval {
  amount: string;
  transaction: string | null;
}

/** From a wallet that signs whole transactions. */
interface BuiltMandate extends MandateRun {
  /** @returns a word: what the wallet lacks */
  approval: (account: string, offer: MandateOffer) => Promise<BuiltApproval | WalletWord>;
}

export interface SolanaMandate extends BuiltMandate {
  wallets: MandateWallets<'solana'>;
  wallet: StandardWallet;
}

export interface TronMandate extends BuiltMandate {
  wallets: MandateWallets<'tron'>;
  provider: TronProvider;
  isOld: boolean;
}

/** What the code that is loaded for a wallet does. What happens is said. Never throws. */
export interface MandateWallet {
  /** What the wallet would allow, to be read before it is asked. */
  readTerms: () => Promise<MandateTerms | undefined>;
  /** Has the terms that the payer has read approved and signed, and hands them in. @returns whether that is done */
  give: (terms: MandateTerms) => Promise<boolean>;
}
