import type { PageLanguage } from './languages.ts';

/** How a store presents itself. */
export interface StoreBrand {
  /** Its logo, by a path below the service's own address, in a preview as a `data:` URL; null: the first letter of its name. */
  logo: { path: string; width: number; height: number } | null;
  /** `#rrggbb`; null: the pages' own colour. */
  accent: string | null;
  /** Where payers reach the store, an https or mailto address, and what is shown of it. */
  support: { href: string; text: string } | null;
  /** A link to its terms. */
  terms: string | null;
}

/** Of a store that has set nothing. */
export const NO_BRAND: StoreBrand = { logo: null, accent: null, support: null, terms: null };

/** A store, as its pages show it. */
export interface StoreFace {
  storeName: string;
  brand: StoreBrand;
}

/** What every page of a store shows. */
export interface StorePage extends StoreFace {
  language: PageLanguage;
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

/** A page with a message only. `store` is null where the address names no store. */
export interface NoticeView {
  page: 'notice';
  language: PageLanguage;
  code: NoticeCode;
  store: StoreFace | null;
}
