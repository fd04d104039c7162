import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';

/** Screen and what was scrolled out of it. */
const CLEAR = '\u001b[H\u001b[2J\u001b[3J';
const WORDS_A_LINE = 4;

/** Shows 24 words on a terminal, or as one line to a program. */
export function showWords(words: string): void {
  if (!process.stderr.isTTY) {
    process.stderr.write(`${words}\n`);
    return;
  }
  const cells = words.split(' ').map((word, i) => `${String(i + 1).padStart(2)} ${word.padEnd(10)}`);
  for (let i = 0; i < cells.length; i += WORDS_A_LINE)
    process.stderr.write(`  ${cells.slice(i, i + WORDS_A_LINE).join('')}\n`);
}

/** The words that a person types, or that a program writes. A terminal is cleared before and after. */
export async function askWords(question: string, { clearFirst }: { clearFirst: boolean }): Promise<string> {
  if (!process.stdin.isTTY) return await text(process.stdin);
  const terminal = createInterface({ input: process.stdin, output: process.stderr, historySize: 0 });
  try {
    if (clearFirst) {
      await terminal.question('Enter, once they are on paper: ');
      process.stderr.write(CLEAR);
    }
    return await terminal.question(`${question}: `);
  } finally {
    terminal.close();
    process.stderr.write(CLEAR);
  }
}
