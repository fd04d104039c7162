import type { Command } from 'commander';
import { reportError } from './failure.ts';
import { ignoreClosedOutput, speakToPrograms } from './terminal.ts';

/** Runs one command line, without the program's name. The outcome is in `process.exitCode`: 0, 1 failed, 2 wrong usage. */
export async function runProgram(
  createProgram: (options: { json: boolean }) => Command,
  words: readonly string[],
): Promise<void> {
  ignoreClosedOutput();
  const json = words.includes('--json');
  if (json) speakToPrograms();
  try {
    await createProgram({ json }).parseAsync([...words], { from: 'user' });
  } catch (error) {
    process.exitCode = reportError(error, { json });
  }
}
