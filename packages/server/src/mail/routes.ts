import { MailList, MailPath, MailQuery, MailWithContent } from '@florin/contract/schemas';
import { pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { presentContent, presentMail } from './present.ts';
import { getMail, listMails, readMailFilter } from './queries.ts';

const PATH = '/api/v1/mails';
const tag = 'Mails';

/** Mails belong to the merchant: the keys of all its stores see the same ones. */
export function mailRoutes({ db }: Platform, publicUrl: () => string): Route[] {
  return [
    defineList({
      path: PATH,
      operationId: 'listMails',
      tag,
      summary: 'List the mails to payers and to the merchant, newest first',
      description:
        'A sandbox sends no mail and keeps what it would have sent; for real money this is the log of what was sent.',
      query: MailQuery,
      answer: MailList,
      refusals: [],
      read: async ({ caller, query }, slice) => {
        const rows = await listMails(db, caller.merchantId, readMailFilter(query), slice);
        return pageOf(rows, slice, presentMail);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{mail_id}`,
      operationId: 'retrieveMail',
      tag,
      summary: 'Read a mail; in a sandbox with its content',
      scope: 'read',
      params: MailPath,
      answer: MailWithContent,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const row = await getMail(db, caller.merchantId, params.mail_id);
        return { body: await presentContent(row, publicUrl()) };
      },
    }),
  ];
}
