import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { Mail, MailQuery, MailWithContent } from './types.ts';

const PATH = '/mails';

/** Mails to payers and to the merchant's people. A sandbox sends none and keeps them, for your tests to read. */
export class Mails extends Resource {
  /**
   * The mails of the merchant, newest first.
   *
   * @example
   * ```ts
   * const { data } = await florin.mails.list({ to: 'ada@example.com', kind: 'receipt' });
   * ```
   */
  list(query: MailQuery = {}): CursorList<Mail> {
    return this.pages(PATH, query, (mail) => mail.id);
  }

  /**
   * A mail, in a sandbox with its subject, text and HTML.
   *
   * @example
   * ```ts
   * const [mail] = (await florin.mails.list({ to: 'ada@example.com', limit: 1 })).data;
   * if (mail !== undefined) console.log((await florin.mails.retrieve(mail.id)).text);
   * ```
   */
  async retrieve(mailId: string): Promise<MailWithContent> {
    return this.read(`${PATH}/${segment(mailId)}`);
  }
}
