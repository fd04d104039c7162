import type { PageLanguage } from './languages.ts';

/** What every page of a store shows. */
export interface StorePage {
  language: PageLanguage;
  storeName: string;
  /** Coins without value: the page says that no real money moves. */
  isTest: boolean;
}

/** A token on a network, as a form sends it (`USDT:trc20`) and as a payer reads it. */
export interface WalletOption {
  value: string;
  token: string;
  networkName: string;
}

/** Why a page has nothing but a message. Each code has a title and a text in the catalogue's `notice`. */
export type NoticeCode =
  | 'checkout_missing'
  | 'checkout_trouble'
  | 'link_missing'
  | 'link_closed'
  | 'link_busy'
  | 'link_unavailable'
  | 'claim_missing'
  | 'claim_suspended'
  | 'subscription_missing'
  | 'subscription_busy'
  | 'subscription_suspended'
  | 'portal_over';

/** A page with a message only. `storeName` is null where the address names no store. */
export interface NoticeView {
  page: 'notice';
  language: PageLanguage;
  code: NoticeCode;
  storeName: string | null;
}
