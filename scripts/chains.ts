import { Refused, readOptions, USAGE } from './chains-options.ts';

async function main(): Promise<void> {
  const { values, positionals } = readOptions();
  if (values.help) return console.log(USAGE);
  const [name = 'start', ...rest] = positionals;
  // What is to be said in a line does not wait until the libraries of three networks are loaded.
  const command =
    name === 'start'
      ? (await import('./chains-start.ts')).start
      : (await import('./chains-commands.ts')).COMMANDS[name];
  if (command === undefined || rest.length > 0)
    throw new Refused(`there is no "${positionals.join(' ')}" (--help)`);
  await command(values);
}

/** Errors of viem have a line that says it in short, and many that do not. */
function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const short = 'shortMessage' in error ? String(error.shortMessage) : error.message;
  return short.replaceAll('\n', ' ');
}

try {
  await main();
} catch (error) {
  console.error(`chains: ${lineOf(error)}`);
  process.exitCode = 1;
}
