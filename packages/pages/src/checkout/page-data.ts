import type { Texts } from '../texts.ts';
import type { CheckoutView } from '../views/checkout.ts';

/** What the page's script starts from. */
export interface PageData {
  view: CheckoutView;
  texts: Texts<'checkout'>;
  /** Said above the page of a sandbox merchant. */
  testText: string;
  /** Of the page's address; calls of the page go below it. */
  token: string;
}
