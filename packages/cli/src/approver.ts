import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { askHidden } from './ask-hidden.ts';
import { CommandFailure } from './failure.ts';
import { type DatabaseFlags, databaseCommand } from './operator.ts';

/** Who decides, of the registered approvers. */
export interface ApproverFlags extends DatabaseFlags {
  as: string;
  tokenFile?: string;
}

export const TOKEN_WAYS = 'The token: --token-file, FLORIN_APPROVER_TOKEN, or asked for.';
const OTHER_WAYS = 'give --token-file FILE or set FLORIN_APPROVER_TOKEN.';

/** A command on the database that a registered approver gives. */
export function approverCommand(group: Command, usage: string, lines: readonly string[]): Command {
  return databaseCommand(group, usage, lines)
    .requiredOption('--as <name>', 'the registered approver who decides')
    .option('--token-file <file>', "file that holds the approver's token");
}

/** The approver's token. Never an argument: those are shown to everybody on the machine. */
export async function findToken({ tokenFile, as }: ApproverFlags): Promise<string> {
  if (tokenFile !== undefined) return readToken(tokenFile);
  return process.env.FLORIN_APPROVER_TOKEN || (await askHidden(`Token of ${as}`, OTHER_WAYS)).trim();
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure('token_file', `The token file cannot be read: ${reason}`, { cause: error });
  }
}
