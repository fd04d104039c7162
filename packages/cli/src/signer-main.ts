import { Command } from 'commander';
import { SIGNER_OPERATIONS } from './commands/signer.ts';
import { runProgram } from './run-program.ts';
import { readVersion } from './version.ts';

/** Help is written for `florin signer`; here the same commands stand at the top. */
const renamed = (text: string) => text.replaceAll('florin signer ', 'florin-signer ');

function createProgram({ json }: { json: boolean }): Command {
  const program = new Command('florin-signer')
    .description('The process that holds the keys of real money.')
    .version(readVersion())
    .option('--json', 'print JSON; errors too, as {"error":{"code","message"}} on standard error')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void process.stdout.write(renamed(text)),
      writeErr: (text) => void (json || process.stderr.write(text)),
    })
    .showHelpAfterError('Add --help to see what it takes.')
    .exitOverride();
  for (const add of SIGNER_OPERATIONS) add(program);
  return program;
}

/** Runs one command line of `florin-signer`, the program of a machine that holds keys and nothing else of Florin. */
export const run = (words: readonly string[]): Promise<void> => runProgram(createProgram, words);
