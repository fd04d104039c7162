import type { MailKind } from '@florin/contract/schemas';
import type { PageLanguage } from './languages.ts';
import type { StoreBrand } from './payer-page.ts';

/** Named values below a mail's text, in this order; each has a name in the catalogue's `mail`. */
export const MAIL_ROWS = [
  'amount',
  'surplus',
  'missing',
  'description',
  'order',
  'network',
  'address',
  'transaction',
] as const;
export type MailRow = (typeof MAIL_ROWS)[number];

/** What a mail says. Its texts are in the catalogue's `mail`: `<kind>_subject` and `<kind>_text`. */
export interface MailView {
  kind: MailKind;
  language: PageLanguage;
  storeName: string;
  /** Absent in mails that were made before stores had one. */
  brand?: StoreBrand;
  /** Coins without value: the mail says that no real money moves. */
  isTest: boolean;
  /** Values of the texts: `{amount}` and others. */
  values: Readonly<Record<string, string>>;
  rows: Readonly<Partial<Record<MailRow, string>>>;
  /** Its button, and the path on this service that it leads to; null: it has none. */
  link: { to: 'payment' | 'claim' | 'subscription' | 'pay' | 'invitation' | 'console'; path: string } | null;
  /** Of a sandbox's invitation: where its link leads, encrypted. */
  sealedLink?: string;
}

/** A mail as it is sent. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}
