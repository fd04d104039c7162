import { wrongUsage } from './failure.ts';

const CANCELED_EXIT_CODE = 130;

/** Prompts at the terminal without echo. @throws CommandFailure without a terminal */
export async function askHidden(question: string, otherWays: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) throw wrongUsage(`${question} cannot be asked for without a terminal: ${otherWays}`);
  stderr.write(`${question}: `);
  stdin.setRawMode(true);
  try {
    return await readLine(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function readLine(stdin: NodeJS.ReadStream): Promise<string> {
  let line: string[] = [];
  for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
    for (const character of String(chunk)) {
      if (character === '\r' || character === '\n' || character === '\u0004') return line.join('');
      if (character === '\u0003') process.exit(CANCELED_EXIT_CODE);
      if (character === '\u007f' || character === '\b') line = line.slice(0, -1);
      else if (character >= ' ') line.push(character);
    }
  }
  return line.join('');
}
