import { Florin } from '@florin/sdk';
import type { Command } from 'commander';
import { findCredentials } from './credentials.ts';
import { examples } from './examples.ts';

/** Flags that select the signing key. */
export interface MerchantFlags {
  dataDir?: string;
}

export const DATA_DIR = [
  '--data-dir <folder>',
  'data folder with sandbox.json (FLORIN_DATA_DIR, else ./.florin)',
] as const;
export const SIGNS_WITH =
  '\nSigns with FLORIN_BASE_URL, FLORIN_API_KEY and FLORIN_SECRET_KEY where they are set, else with sandbox.json.';

/** A command that calls the API with a merchant's key: by default the one of the sandbox's folder. */
export function merchantCommand(group: Command, usage: string, lines: readonly string[]): Command {
  return examples(
    group
      .command(usage)
      .option(...DATA_DIR)
      .addHelpText('after', SIGNS_WITH),
    lines,
  );
}

/** The client of the key that the flags lead to. @throws CommandFailure */
export function florinOf({ dataDir }: MerchantFlags): Florin {
  return new Florin(findCredentials(process.env, dataDir));
}

/** Whether the key belongs to a sandbox merchant, whose clock may be ahead. */
export function isSandbox({ dataDir }: MerchantFlags): boolean {
  return findCredentials(process.env, dataDir).apiKey.startsWith('fl_test_');
}
