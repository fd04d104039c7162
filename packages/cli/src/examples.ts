import type { Command } from 'commander';

/** Every command's help ends with command lines to copy. */
export function examples(command: Command, lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}

/** A word for each argument, as the service writes its ids. */
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

/** The lines of a command that needs no others: its usage, and that of a list with `--json`, too. */
export function exampleOf(group: Command, usage: string, options: object, end = ''): string[] {
  const words = usage.replaceAll(/<([a-z-]+)>/g, (argument, name: string) => WORDS[name] ?? argument);
  const line = `florin ${group.name()} ${words}${end}`;
  if (usage.includes('<')) return [line];
  return [line, `${line}${'merchant' in options ? ' --merchant mer_01…' : ''} --json`];
}
