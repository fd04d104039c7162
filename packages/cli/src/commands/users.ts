import type { Operator } from '@florin/server/operator';
import { operator } from '../operations.ts';
import { flag, preset, required, text } from '../options.ts';
import { resource } from '../resource.ts';

const SANDBOX_OWNER = 'owner@localhost';
const SHOWN_ONCE = 'Keep the link now: it works once and is not shown again.';
const mailedTo = (email: string) => `The link goes to ${email} by mail, and nobody else gets it.`;
const ROLES =
  'owner, admin, developer, finance, approver, support, viewer, or one of florin roles list; with --installation operator, auditor';

const scope = {
  merchant: text('--merchant <id>', 'of this merchant (needed where there are several)'),
  installation: flag('--installation', 'of the whole installation'),
};
const operation = operator();

type Invited = Awaited<ReturnType<Operator['users']['invite']>>;
/** Of a link that went by mail there is nothing to show. */
const invitation = operator(({ link_token: link, ...made }: Invited) =>
  link === null ? made : { ...made, link_token: link },
);

export const addUsers = resource({
  name: 'users',
  description: 'People who sign in to the console, and what they may do',
  examples: ['florin users invite ada@example.com --role owner', 'florin users list'],
  operations: [
    invitation(
      'invite <email>',
      'Invite a person by a link that works once, within 7 days: by mail where there is a mail server (FLORIN_SMTP_URL), else it is printed',
      {
        examples: [
          'florin users invite ada@example.com --role owner --merchant mer_01…',
          'florin users invite ops@example.com --role operator --installation',
          'florin users invite ada@example.com --role owner --link',
        ],
        options: {
          role: required(text('--role <role>', ROLES)),
          ...scope,
          link: flag('--link', 'print the link and send no mail, as is always done for --installation'),
        },
        run: ({ users }, given) => users.invite(given),
        note: ({ link_token: link, email }) => (link === null ? mailedTo(email) : SHOWN_ONCE),
      },
    ),
    operation('list', 'List people with a role, and who is invited', {
      options: scope,
      run: ({ users }, of) => users.list(of),
    }),
    operation('role <email> <role>', 'Give a person another role', {
      examples: ['florin users role ada@example.com admin'],
      options: scope,
      run: ({ users }, change) => users.role(change),
    }),
    operation('remove <email>', 'Take a role or an invitation away; open sessions end at once', {
      examples: ['florin users remove ada@example.com'],
      options: scope,
      run: ({ users }, of) => users.remove(of),
    }),
    operation('sign-out-all', 'End every session of everybody, as after a backup was put back', {
      run: ({ users }) => users.signOutAll(),
    }),
  ],
});

export const addConsole = resource({
  name: 'console',
  description: 'The console',
  examples: ['florin console link'],
  operations: [
    operation(
      'link',
      'Make a link that signs a person in, once, within an hour; for the owner of a sandbox, and for who has lost password or second factor',
      {
        examples: ['florin console link', 'florin console link --email ada@example.com'],
        options: { email: preset(text('--email <address>', 'whom it signs in'), SANDBOX_OWNER) },
        run: ({ users }, { email }) => users.signInLink(email),
        note: SHOWN_ONCE,
      },
    ),
  ],
});
