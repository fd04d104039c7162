import type { MailKind } from '@florin/contract/schemas';
import type { LiveView } from './live.ts';

/** A mail that the sandbox has caught. Times are ISO 8601 with a `Z`. */
export interface CaughtMail {
  id: string;
  kind: MailKind;
  to: string;
  language: string;
  about: string;
  createdAt: string;
  subject: string;
  text: string;
  /** Where its HTML is. */
  htmlPath: string;
}

/** The list that the script of the page renews. */
export interface MailsList {
  mails: CaughtMail[];
}

/** All mail that the sandbox would have sent. In English. */
export interface MailsView extends MailsList, LiveView {
  page: 'mails';
}
