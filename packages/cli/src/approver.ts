import { readFileSync } from 'node:fs';
import type { Subject } from '@florin/signer/statement';
import type { Command } from 'commander';
import { askHidden } from './ask-hidden.ts';
import { attempt, wrongUsage } from './failure.ts';
import { type DatabaseFlags, databaseCommand } from './operator.ts';
import { withSigner } from './signer.ts';

/** The registered approver who decides. */
interface Approver {
  as: string;
  tokenFile?: string;
}

export type ApproverFlags = DatabaseFlags & Approver;

export const TOKEN_WAYS = 'The token: --token-file, FLORIN_APPROVER_TOKEN, or asked for.';
const OTHER_WAYS = 'give --token-file FILE or set FLORIN_APPROVER_TOKEN.';

/** A database command that needs a registered approver. */
export function approverCommand(group: Command, usage: string, lines: readonly string[]): Command {
  return databaseCommand(group, usage, lines)
    .requiredOption('--as <name>', 'the registered approver who decides')
    .option('--token-file <file>', "file that holds the approver's token");
}

/** The approver's token. Never an argument, since every user of the machine can see those. */
export async function findToken({ tokenFile, as }: Approver): Promise<string> {
  if (tokenFile !== undefined) {
    return attempt('token_file', 'The token file cannot be read', () =>
      readFileSync(tokenFile, 'utf8').trim(),
    );
  }
  return process.env.FLORIN_APPROVER_TOKEN || (await askHidden(`Token of ${as}`, OTHER_WAYS)).trim();
}

/** How a person shows who they are: by token, or by a signature of their own key, which a signer of live money wants. */
interface SigningFlags extends Approver {
  keyFile?: string;
  passphraseFile?: string;
  signature?: string;
  validUntil?: number;
}
export type ApprovingFlags = DatabaseFlags & SigningFlags;

export const SIGNING_WAYS = `Real money above the signer's threshold: --key-file, or --signature with --valid-until. ${TOKEN_WAYS}`;
/** A week, as a batch waits for approval. */
const SIGNATURE_SECONDS = 7 * 86_400;

/** A database command of a registered approver who may sign. */
export function approvingCommand(group: Command, usage: string, lines: readonly string[]): Command {
  return approverCommand(group, usage, lines)
    .option('--key-file <file>', 'sign with this key, made by florin approvers new-key')
    .option('--passphrase-file <file>', 'file whose first line is the passphrase of the key')
    .option('--signature <hex>', 'a signature made elsewhere: florin approvers sign, or a wallet')
    .option('--valid-until <seconds>', 'with --signature: until when it is good, Unix seconds', Number);
}

/** Proves who approves: a signature over the statement, or the approver's token. */
export type Prove = (
  statement: () => Promise<Subject>,
) => Promise<{ as: string } & ({ token: string } | { signed: { validUntil: number; signature: string } })>;

export async function proveBy(flags: SigningFlags): Promise<Prove> {
  const { as, keyFile, passphraseFile, signature, validUntil } = flags;
  if (signature !== undefined) {
    if (validUntil === undefined || keyFile !== undefined)
      throw wrongUsage('--signature goes with --valid-until, and without --key-file.');
    return async () => ({ as, signed: { validUntil, signature } });
  }
  if (keyFile === undefined) {
    const token = await findToken(flags);
    return async () => ({ as, token });
  }
  return (statement) =>
    withSigner(async (signer) => {
      const passphrase =
        passphraseFile === undefined ? undefined : signer.readPassphrase(passphraseFile, undefined);
      const key = signer.openApproverKey(keyFile, passphrase);
      const until = Math.floor(Date.now() / 1000) + SIGNATURE_SECONDS;
      const made = signer.signStatement(signer.statementOf(await statement(), until), key);
      return { as, signed: { validUntil: until, signature: made } };
    });
}
