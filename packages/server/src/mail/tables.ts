import type { MailKind, MailStatus } from '@florin/contract/schemas';
import type { MailView, PageLanguage } from '@florin/pages';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    mail: {
      merchant_id: string;
      mail_id: string;
      kind: MailKind;
      /** With kind and recipient the key: what causes a mail causes it once. */
      cause: string;
      /** Public id of what it is about. */
      about: string;
      recipient: string;
      language: PageLanguage;
      view: MailView;
      status: MailStatus;
      attempts: number;
      error: string | null;
      /** The merchant's clock. */
      created_at: Int8;
      ended_at: Int8 | null;
    };
  }
}
