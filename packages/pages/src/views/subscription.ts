import type { Network } from '@florin/contract/money';
import type {
  BillingInterval,
  InvoiceStatus,
  PaymentMethodStatus,
  SubscriptionStatus,
} from '@florin/contract/schemas';
import type { StorePage, WalletOption } from './payer-page.ts';
import type { MandateWallets } from './wallet.ts';

/** Why the newest charge failed. */
export type Decline =
  | 'insufficient_balance'
  | 'insufficient_allowance'
  | 'cap_exceeded'
  | 'mandate_revoked'
  | 'other';

export interface SubscribedItem {
  product: string;
  quantity: number;
}

/** A price, for people, with how often it is due. */
export interface Recurring {
  price: string;
  interval: BillingInterval;
}

/** What the page of a subscription shows: what to do, what is under way, or how it ended. */
export type SubscribeState = 'choose' | 'confirming' | 'review' | 'done' | 'overdue' | 'ended' | 'expired';

/** The page of a subscription: for its first payment, then for its wallet. Prices and days are for people. */
export interface SubscribeView extends StorePage, Recurring {
  page: 'subscribe';
  /** The payer's wallet is simulated. */
  isSimulated: boolean;
  token: string;
  state: SubscribeState;
  items: SubscribedItem[];
  description: string | null;
  /** When a trial ends. */
  freeUntil: string | null;
  /** The first invoice where it is not of a whole period. */
  first: { price: string; period: string } | null;
  /** How wallets of browsers are charged, by network; empty: the payer's wallet is simulated, or none can be. */
  wallets: readonly MandateWallets[];
  /** What a mandate allows in each period. */
  cap: string;
  options: WalletOption[];
  /** Of the page on which the first invoice alone is paid. */
  invoiceToken: string | null;
  declined: Decline | null;
  /** The subscription once it has begun, until it ends. */
  begun: PortalSubscription | null;
  returnUrl: string | null;
}

export interface PortalInvoice {
  id: string;
  day: string;
  price: string;
  status: InvoiceStatus;
  /** Of its page while it can be paid there. */
  payToken: string | null;
}

export interface PortalSubscription extends Recurring {
  id: string;
  items: SubscribedItem[];
  status: SubscriptionStatus;
  isOver: boolean;
  /** The day that matters next, or mattered last. */
  date: { kind: 'next_payment' | 'paid_until' | 'free_until' | 'ends_on' | 'ended_on'; day: string } | null;
  /** `address` is short: its first and last characters. */
  wallet: { token: string; networkName: string; address: string } | null;
  /** What is wrong with the wallet, or why its last charge failed. */
  problem:
    | `wallet_${Exclude<PaymentMethodStatus, 'active'>}`
    | 'wallet_allowance'
    | 'wallet_nothing'
    | 'wallet_other_delegate'
    | 'wallet_closed'
    | `declined_${Decline}`
    | null;
  /** The open invoice, to be paid on its page, or tried again. */
  due: { invoiceId: string; price: string; payToken: string | null } | null;
  /** Until when it would last if it were canceled now; null: it cannot be. */
  lastsUntil: string | null;
  isEnding: boolean;
  options: WalletOption[];
  /** Of the subscription's page, where another wallet of the browser is chosen; null: none can be. */
  walletPage: string | null;
  /** What the payer's wallet allows the contract or wallet that charges it, to be taken back there; null: nothing, or it is simulated. */
  approval: { token: string; network: Network; spender: string } | null;
  invoices: PortalInvoice[];
}

/** A page of the portal. `token` is the last part of the portal's address. */
interface PortalPage extends StorePage {
  token: string;
}

/** The customer's subscriptions. */
export interface PortalView extends PortalPage {
  page: 'portal';
  /** The payers' wallets are simulated. */
  isSimulated: boolean;
  returnUrl: string;
  /** The merchant is suspended: everything is shown, and nothing can be done. */
  isSuspended: boolean;
  subscriptions: PortalSubscription[];
  /** Why the last action was refused. */
  refused: 'refused_text' | 'refused_declined' | null;
}

/** Asks once more before a subscription is canceled. */
export interface PortalCancelView extends PortalPage {
  page: 'portal_cancel';
  id: string;
  items: SubscribedItem[];
  lastsUntil: string;
}

/** The receipt of a paid invoice. */
export interface ReceiptView extends PortalPage {
  page: 'receipt';
  invoiceId: string;
  customer: string;
  items: SubscribedItem[];
  period: string;
  price: string;
  paidAt: string;
  /** Null where no payment was needed. */
  payment: { received: string; networkName: string; txIds: string[] } | null;
}
