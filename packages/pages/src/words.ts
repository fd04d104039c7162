import { parseArgs } from 'node:util';

/**
 * Reads the command line of a program that takes words, and no option but `--help`, which prints the usage and ends with 0. An
 * unknown option, or a wrong number of words, ends with 2: a mistyped option never becomes the name of a folder.
 *
 * @param count how many words it takes, at least and at most
 */
export function wordsOf(usage: string, [least, most]: readonly [number, number]): string[] {
  const refuse = (message: string): never => {
    console.error(`${message}\n\n${usage}`);
    process.exit(2);
  };
  const parsed = (() => {
    try {
      return parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } });
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error));
    }
  })();
  const { values, positionals: words } = parsed;
  if (values.help === true) {
    console.log(usage);
    process.exit(0);
  }
  if (words.length > most) return refuse(`"${words[most]}" is one word too many.`);
  if (words.length < least) return refuse('A word is missing.');
  return words;
}
