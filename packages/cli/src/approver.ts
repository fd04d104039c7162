import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { askHidden } from './ask-hidden.ts';
import { attempt } from './failure.ts';
import { type DatabaseFlags, databaseCommand } from './operator.ts';

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
