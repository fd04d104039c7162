import { readFileSync } from 'node:fs';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { parseDuration } from '../duration.ts';
import { examples } from '../examples.ts';
import { attempt } from '../failure.ts';
import { operator } from '../operations.ts';
import { flag, text } from '../options.ts';
import { type AddCommand, resource } from '../resource.ts';
import { show } from '../show.ts';
import { withSigner } from '../signer.ts';

const options = {
  merchant: text('--merchant <id>', 'their merchant; needed where there are several'),
  operator: flag(
    '--operator',
    'of the installation: for networks of real money, databases and journals',
  ).conflicts('merchant'),
};

/** Those of the installation, or of a merchant. */
const peopleOf = (
  { approvers, installationApprovers }: Operator,
  { operator: ofInstallation }: { operator?: true },
) => (ofInstallation ? installationApprovers : approvers);

const operation = operator();

type Passkeys = Awaited<ReturnType<Operator['users']['passkeys']>>;
const passkeysOf = operator(({ name }: Passkeys) => ({ name }));

const PASSPHRASE_FILE = [
  '--passphrase-file <file>',
  'file whose first line is the passphrase of the key file',
] as const;

const addKey: AddCommand = (group) => {
  const command = group
    .command('new-key <file>')
    .description(
      "Make an approver's own key in a new file and show the public key, which the signer's policy names",
    )
    .option(...PASSPHRASE_FILE);
  examples(command, [
    'florin approvers new-key ada.pem --passphrase-file passphrase',
    'florin approvers new-key payouts-server.pem   # of a server that approves its own payouts',
  ]).action(async (file: string, { passphraseFile }: { passphraseFile?: string }, self: Command) => {
    await withSigner(async (signer) => {
      const passphrase =
        passphraseFile === undefined ? undefined : signer.readPassphrase(passphraseFile, undefined);
      show(self, { key_file: file, ed25519: signer.writeApproverKey(file, passphrase) });
    });
  });
};

interface SignFlags {
  as: string;
  keyFile: string;
  passphraseFile?: string;
  valid: number;
}

/** For payouts and refunds that a signer wants people for; the answer is one of `approvals` of its protocol. */
const addSign: AddCommand = (group) => {
  const command = group
    .command('sign <file>')
    .description('Sign a payout batch or refund, read as JSON, with your own key')
    .requiredOption('--as <name>', "your name in the signer's policy")
    .requiredOption('--key-file <file>', 'your key, made by florin approvers new-key')
    .option(...PASSPHRASE_FILE)
    .option('--valid <duration>', 'how long the signature is good: 12h, 7d', parseDuration, 7 * 86_400);
  examples(command, [
    'florin approvers sign batch.json --as "Ada Lovelace" --key-file ada.pem --json',
  ]).action(async (file: string, { as, keyFile, passphraseFile, valid }: SignFlags, self: Command) => {
    await withSigner(async (signer) => {
      const json = attempt('file', 'The file cannot be read', () => readFileSync(file, 'utf8'));
      const passphrase =
        passphraseFile === undefined ? undefined : signer.readPassphrase(passphraseFile, undefined);
      const key = signer.openApproverKey(keyFile, passphrase);
      const validUntil = Math.floor(Date.now() / 1000) + valid;
      const statement = signer.statementOf(signer.readSubject(json), validUntil);
      const signature = signer.signStatement(statement, key);
      const own = signer.approverPublicKey(key);
      show(self, {
        approver: as,
        validUntil,
        signature,
        key: own,
        statement: signer.statementText(statement),
      });
    });
  });
};

export const addApprovers = resource({
  name: 'approvers',
  description:
    'People who approve: payouts and refunds of a merchant, or what concerns the whole installation',
  examples: ['florin approvers add "Ada Lovelace"', 'florin approvers list --operator'],
  operations: [
    operation('add <name>', 'Register a person and show the token, once', {
      examples: [
        'florin approvers add "Ada Lovelace"',
        'florin approvers add "Ada Lovelace" --key ada.pem   # also gives her a key, or another one',
        'florin approvers add "Ada Lovelace" --operator      # of the installation; two of them resume a network of real money',
      ],
      options: {
        ...options,
        key: text('--key <file-or-key>', 'the public key by which her signatures are known'),
      },
      run: async (client, { name, merchant, key, ...whose }) => {
        const people = peopleOf(client, whose);
        return key === undefined
          ? await people.add(name, merchant)
          : await withSigner(
              async (signer) => await people.addKey(name, signer.approverKeyOf(key).key, merchant),
            );
      },
      note: 'Give a token to that person now: it is not shown again.',
    }),
    operation('list', 'List registered approvers', {
      options,
      run: (client, { merchant, ...whose }) => peopleOf(client, whose).list(merchant),
    }),
    operation('link <name> <email>', 'Say by which address an approver signs in to the console', {
      examples: ['florin approvers link "Ada Lovelace" ada@example.com'],
      options,
      run: (client, { name, email, merchant, ...whose }) =>
        peopleOf(client, whose).link(name, email, merchant),
      note: 'They approve nothing that they drew up while signed in, nor what their keys drew up.',
    }),
    operation(
      'remove <name>',
      'Remove an approver; what they have approved and is not paid yet waits for somebody else',
      {
        options,
        run: (client, { name, merchant, ...whose }) => peopleOf(client, whose).remove(name, merchant),
      },
    ),
    passkeysOf(
      'passkey <email>',
      "Show a person's passkeys as a line of `approvers` in the signer's policy",
      {
        examples: ['florin approvers passkey ada@example.com'],
        run: ({ users }, { email }) => users.passkeys(email),
        parts: ({ fingerprints }) => fingerprints,
        text: ({ name, passkeys }) => JSON.stringify({ name, passkeys }),
        note:
          'Compare each fingerprint with the one that the person saw when they added the passkey, then paste the line into the ' +
          'policy: whoever writes the database could show you another key.',
      },
    ),
    addKey,
    addSign,
  ],
});
