import { Florin } from '@florin/sdk';
import type { Command } from 'commander';
import { findCredentials } from './credentials.ts';
import { examples } from './examples.ts';

/** Where a command finds the key that it signs with. */
export interface MerchantFlags {
  dataDir?: string;
}

/** A command that calls the API with a merchant's key: by default the one of the sandbox's folder. */
export function merchantCommand(group: Command, usage: string, lines: readonly string[]): Command {
  const command = group
    .command(usage)
    .option('--data-dir <folder>', 'data folder with sandbox.json (FLORIN_DATA_DIR, else ./.florin)');
  command.addHelpText(
    'after',
    '\nSigns with FLORIN_BASE_URL, FLORIN_API_KEY and FLORIN_SECRET_KEY where they are set, else with sandbox.json.',
  );
  return examples(command, lines);
}

/** The client of the key that the flags lead to. @throws CommandFailure */
export function florinOf({ dataDir }: MerchantFlags): Florin {
  return new Florin(findCredentials(process.env, dataDir));
}

/** Whether the key belongs to a sandbox merchant, whose clock may be ahead. */
export function isSandbox({ dataDir }: MerchantFlags): boolean {
  return findCredentials(process.env, dataDir).apiKey.startsWith('fl_test_');
}

/** Seconds since 1970 as people write a time. */
export const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
/** The same of a time that may not have come. */
export const timeOrNone = (seconds: number | null | undefined) =>
  seconds === null || seconds === undefined ? null : timeOf(seconds);
