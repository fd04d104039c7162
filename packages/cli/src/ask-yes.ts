import { createInterface } from 'node:readline/promises';
import { wrongUsage } from './failure.ts';

/** Whether a person at the terminal types yes. @throws CommandFailure without a terminal */
export async function askYes(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw wrongUsage(
      'This cannot be asked for without a terminal: give --yes, or --dry-run for the price alone.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr, historySize: 0 });
  try {
    return (await terminal.question(`${question} Type yes to go on: `)).trim().toLowerCase() === 'yes';
  } catch (error) {
    // Ctrl-C and Ctrl-D are an answer.
    if (error instanceof Error && error.name === 'AbortError') return false;
    throw error;
  } finally {
    terminal.close();
  }
}
