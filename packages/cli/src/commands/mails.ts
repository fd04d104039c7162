import { MAIL_KINDS, MAIL_STATUSES } from '@florin/contract/schemas';
import type { Mail, MailWithContent } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { merchant } from '../operations.ts';
import { choice, made, madeBetween, sortedPage, text } from '../options.ts';
import { resource } from '../resource.ts';

const summary = columnsOf<MailWithContent>()(
  'id kind status to about language attempts error subject created ended=ended_at',
);
const listed = columnsOf<Mail>()('id kind status to about created');

const list = merchant(listed);
const show = merchant(summary);

export const addMails = resource({
  name: 'mails',
  description: 'Mails to payers and to your own people; a sandbox sends none and keeps them',
  examples: ['florin mails list', 'florin mails show mail_01…'],
  operations: [
    list('list', 'List mails, newest first', {
      examples: [
        'florin mails list --to ada@example.com',
        'florin mails list --status failed --since today --json',
      ],
      options: {
        kind: choice('--kind <kind>', 'of this kind', MAIL_KINDS),
        status: choice('--status <status>', 'in this status', MAIL_STATUSES),
        to: text('--to <address>', 'to this address'),
        about: text('--about <id>', 'about this payment, refund, subscription, endpoint or batch'),
        ...made,
        ...sortedPage('mail'),
      },
      read: madeBetween,
      run: ({ mails }, query) => mails.list(query),
    }),
    show('show <mail>', 'Show a mail; in a sandbox with what it says', {
      parts: ({ text: said }) =>
        (said ?? '')
          .trimEnd()
          .split(/\n+/)
          .map((line) => ({ text: line })),
      run: ({ mails }, { mail }) => mails.retrieve(mail),
    }),
  ],
});
