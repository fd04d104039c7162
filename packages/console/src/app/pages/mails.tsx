import type { Mail, MailWithContent } from '@florin/contract/schemas';
import { Code, Text } from '@mantine/core';
import { Detail, Facts, Section } from '../detail.tsx';
import { CopyId, Maybe, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';

const PATH = '/api/v1/mails';

const MAILS: ListDefinition<Mail> = {
  title: 'Mails',
  path: PATH,
  folder: 'mails',
  idOf: ({ id }) => id,
  columns: [
    { title: 'About', cell: ({ kind }) => wordsOf(kind) },
    { title: 'To', cell: ({ to }) => to },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Made', cell: ({ created }) => <Time at={created} /> },
    { title: 'Of', cell: ({ about }) => <CopyId id={about} isShort /> },
  ],
  filters: [
    { name: 'to', label: 'To' },
    { name: 'about', label: 'Of (an id)' },
    {
      name: 'status',
      label: 'Status',
      options: ['caught', 'pending', 'sending', 'sent', 'failed', 'unconfirmed', 'off'],
    },
  ],
  empty: {
    text: 'No mails yet. A payer who gave an address gets one about each payment and refund; a sandbox sends none and keeps them here. This makes one, in a sandbox:',
    command: 'npx florin checkout create 12.50 USD --email ada@example.com',
  },
};

/** What was written to payers and to the merchant's own people. */
export const MailsPage = () => <List definition={MAILS} />;

const factsOf = (mail: Mail) =>
  [
    ['Status', <Status key="status" name={mail.status} />],
    ['To', mail.to],
    ['Of', <CopyId key="about" id={mail.about} />],
    ['Language', mail.language],
    ['Attempts', mail.attempts],
    ['The mail server said', mail.error],
    ['Made', <Time key="created" at={mail.created} />],
    ['Sent, or given up', <Time key="ended" at={mail.ended_at} />],
  ] as const;

export const MailPage = () => (
  <Detail<MailWithContent>
    list={{ title: 'Mails', folder: 'mails' }}
    path={(id) => `${PATH}/${encodeURIComponent(id)}`}
    title={({ kind, subject }) => subject ?? wordsOf(kind)}
  >
    {(mail) => (
      <>
        <Facts facts={factsOf(mail)} />
        <Section title="Text">
          {mail.text === null ? (
            <Text>Kept in a sandbox only: a mail may hold a link that only its recipient should open.</Text>
          ) : (
            <Code block className="curl">
              <Maybe>{mail.text}</Maybe>
            </Code>
          )}
        </Section>
      </>
    )}
  </Detail>
);
