import type { Network } from '@florin/contract/money';
import type { PageLanguage } from './languages.ts';
import type { StoreBrand } from './payer-page.ts';

/** State of a payment from its payer's point of view. */
export const PAGE_STATES = [
  'choose',
  'pay',
  'confirming',
  'closing',
  'paid',
  'expired',
  'canceled',
  'frozen',
  'over',
  'suspended',
] as const;
export type PageState = (typeof PAGE_STATES)[number];

/** A QR code as the path of an SVG: `size` modules wide, its quiet zone included. */
export interface QrCode {
  size: number;
  path: string;
}

/** A token and network to pay with. `hint` selects the text on the network's usual time and fee. */
export interface PageOption {
  value: string;
  token: string;
  network: Network;
  networkName: string;
  hint: 'test' | 'erc20' | 'trc20' | 'spl';
  /** What would have to be sent now, as text; null while there is no rate. */
  amount: string | null;
}

/** `chain`: as the wallet standard names it, such as `solana:mainnet`. */
export type DueWallet = { contract: string } & (
  | { kind: 'ethereum'; chainId: number }
  | { kind: 'solana'; chain: string }
  | { kind: 'tron'; chainId: number }
);

/** The payment due now. Address, amount and code come from one read of the database. */
export interface PageDue {
  token: string;
  network: Network;
  networkName: string;
  /** As a wallet takes it: decimal digits with a point, whatever the language. */
  amount: string;
  address: string;
  qr: QrCode;
  /** A link that fills in a wallet, shown on demand only: some wallets send such payments to a wrong address. */
  rich: { uri: string; qr: QrCode } | null;
  /** Which wallets in the payer's browser pay it, on which chain, and the token's contract there; null: none does. */
  wallet: DueWallet | null;
  /** The rate as text; null if the price is in the token itself. */
  rate: string | null;
}

/** A notice to the payer; amounts are formatted text. */
export type PageNotice =
  | { code: 'underpaid'; sent: string; missing: string }
  | { code: 'overpaid'; surplus: string }
  | { code: 'wrong_token'; received: string }
  | { code: 'unlisted' }
  | { code: 'late'; received: string }
  | { code: 'incomplete'; received: string }
  | { code: 'not_needed'; received: string }
  | { code: 'vanished' }
  | { code: 'no_rate' };

/** A transaction, and its page at the network's explorer; null: the network's configuration names none. */
export interface PageTransaction {
  id: string;
  url: string | null;
  /** What it brought; null for the only one. */
  amount: string | null;
}

/** What is known of the chosen token and network while nothing is to be sent. Amounts are text for people. */
export interface PageDetails {
  /** What was to be sent. */
  asked: string;
  received: string | null;
  /** What of it is on its way back to the payer, and what has been sent back. */
  refunding: string | null;
  refunded: string | null;
  network: Network;
  networkName: string;
  /** Null while the merchant is suspended: nothing may be sent then. */
  address: string | null;
  transactions: PageTransaction[];
  paidAt: string | null;
}

/** Everything that the checkout page shows, decided by the server; the page only renders it. */
export interface CheckoutView {
  language: PageLanguage;
  state: PageState;
  storeName: string;
  brand: StoreBrand;
  description: string | null;
  orderId: string | null;
  /** The period of an invoice, as text. */
  period: string | null;
  /** Formatted in the payer's language. */
  price: string;
  /** Coins without value. */
  isTest: boolean;
  /** The network is simulated, and so is the payer's wallet. */
  isSimulated: boolean;
  options: PageOption[];
  /** Another option may still be chosen. Options are sorted by what the network usually takes as its fee. */
  canChoose: boolean;
  due: PageDue | null;
  confirmations: { count: number; needed: number; amount: string } | null;
  notices: PageNotice[];
  /** Until the payment expires and until the rate is renewed; null: never. */
  secondsLeft: number | null;
  /** The total time to pay. */
  secondsTotal: number | null;
  rateSecondsLeft: number | null;
  details: PageDetails | null;
  returnUrl: string | null;
}

/** The page on which a payer pays. `token` is the last part of its address; its calls go below that. */
export interface CheckoutPageView {
  page: 'checkout';
  view: CheckoutView;
  token: string;
  choosing: Choosing | null;
  /** Once paid the page leads back to the store by itself. */
  isAutoReturn: boolean;
}

/** The checkout page without its script: the preview beside the form of a store's branding. */
export interface CheckoutPreviewView {
  page: 'checkout_preview';
  view: CheckoutView;
}

/** The payer chooses anew: first a token, then one of its networks. */
export interface Choosing {
  token: string | null;
}

/** The step of choosing that the query of the page's address names, so that a browser's Back leads to the step before. */
export function choosingOf(query: string): Choosing | null {
  const params = new URLSearchParams(query);
  const token = params.get('token');
  return token !== null || params.get('choose') === '1' ? { token } : null;
}

/** Whether the page's address says that it leads back by itself. */
export const isAutoReturn = (query: string) => new URLSearchParams(query).get('return') === 'auto';
