import type { QrCode } from './checkout.ts';
import type { StorePage } from './payer-page.ts';

/** What is wrong with the amount that a payer typed. */
export type AmountFault = 'amount_missing' | 'amount_form' | 'amount_range';

/** What a link is for. */
interface LinkSubject extends StorePage {
  description: string | null;
  /** For people; null where the payer names the amount. */
  price: string | null;
}

/** The page of a payment link: a form that starts a checkout. */
export interface LinkView extends LinkSubject {
  page: 'link';
  currency: string;
  /** An amount of the currency as it may be typed, such as `12.50`. */
  example: string;
  /** The currency has no decimals. */
  isWhole: boolean;
  /** Makes the form count once, however often it is sent. */
  once: string;
  /** Shown in the form again after a fault. */
  typed: string;
  fault: AmountFault | null;
}

/** A sheet to print: the link as a QR code. */
export interface LinkPosterView extends LinkSubject {
  page: 'link_poster';
  url: string;
  qr: QrCode;
}
