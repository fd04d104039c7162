import type { Texts } from '../texts.ts';
import type { CheckoutView, Choosing } from '../views/checkout.ts';

/** What the page's script starts from. */
export interface PageData {
  view: CheckoutView;
  texts: Texts<'checkout'>;
  /** Said above the page of a sandbox merchant. */
  testText: string;
  /** Stands before the store's contact. */
  contactText: string;
  /** Of the page's address; calls of the page go below it. */
  token: string;
  choosing: Choosing | null;
  isAutoReturn: boolean;
}
