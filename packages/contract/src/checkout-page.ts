/** Languages of payers' pages; the first is spoken where none fits. Each has a file in packages/pages/locales. */
export const PAGE_LANGUAGES = ['en', 'es', 'ar'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

/** What a language calls itself. */
export const LANGUAGE_NAMES: Record<PageLanguage, string> = { en: 'English', es: 'Español', ar: 'العربية' };

export function isPageLanguage(text: string): text is PageLanguage {
  return PAGE_LANGUAGES.some((language) => language === text);
}

/** The direction in which a language is written. */
export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');

/** Where a payment stands, as far as its payer has to act upon it. */
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

/** In what and where one may pay. `hint` names the network's usual time and fee. */
export interface PageOption {
  value: string;
  token: string;
  networkName: string;
  hint: 'test' | 'erc20' | 'trc20' | 'spl';
  isChosen: boolean;
}

/** What is to be sent now. Address, amount and code are of one reading of the database. */
export interface PageDue {
  token: string;
  networkName: string;
  /** As a wallet takes it: decimal digits with a point, whatever the language. */
  amount: string;
  address: string;
  qr: QrCode;
  /** A link that fills in a wallet, only on demand: some wallets send what they read in it to the wrong place. */
  rich: { uri: string; qr: QrCode } | null;
  /** What one token costs, for people; null where price and token are the same. */
  rate: string | null;
}

/** Something that the payer should know; the amounts are for people. */
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

export interface PageReceipt {
  /** What was received, for people. */
  received: string;
  networkName: string;
  paidAt: string;
  /** Transactions that paid it. */
  txIds: string[];
}

/** Everything that a payer's page shows, decided by the server; the page only puts it into words. */
export interface CheckoutView {
  language: PageLanguage;
  state: PageState;
  storeName: string;
  description: string | null;
  orderId: string | null;
  /** Of an invoice: the time that it pays for, for people. */
  period: string | null;
  /** For people, in the manner of their language. */
  price: string;
  isTest: boolean;
  options: PageOption[];
  /** Another option may still be chosen. */
  canChoose: boolean;
  due: PageDue | null;
  confirmations: { count: number; needed: number; amount: string } | null;
  notices: PageNotice[];
  /** Until the payment expires and until the rate is renewed; null: never. */
  secondsLeft: number | null;
  /** The whole time that the payer had. */
  secondsTotal: number | null;
  rateSecondsLeft: number | null;
  receipt: PageReceipt | null;
  returnUrl: string | null;
}
