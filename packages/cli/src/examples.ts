import type { Command } from 'commander';

/** Every command's help ends with command lines to copy. */
export function examples(command: Command, lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}

/** An example value for each argument, in the form of the service's ids. */
const WORDS: Readonly<Record<string, string>> = {
  address: '0x5aAe…',
  batch: 'pb_01…',
  customer: 'cus_01…',
  delivery: 'whd_01…',
  endpoint: 'we_01…',
  invoice: 'in_01…',
  item: 'pbi_01…',
  key: 'key_01…',
  link: 'plink_01…',
  merchant: 'mer_01…',
  method: 'pm_01…',
  name: '"Ada Lovelace"',
  network: 'erc20',
  payment: 'pay_01…',
  refund: 'A-17-r1',
  session: 'cs_01…',
  store: 'store_01…',
  subscription: 'sub_01…',
  'tx-id': '0x9f…:0',
};

/** The default examples of a command: its usage, for a list also with `--json`. */
export function exampleOf(group: Command, usage: string, options: object, end = ''): string[] {
  const words = usage.replaceAll(/<([a-z-]+)>/g, (argument, name: string) => WORDS[name] ?? argument);
  const line = `florin ${group.name()} ${words}${end}`;
  if (usage.includes('<')) return [line];
  return [line, `${line}${'merchant' in options ? ' --merchant mer_01…' : ''} --json`];
}
