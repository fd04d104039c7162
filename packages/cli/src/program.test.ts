import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  BILLING_INTERVALS,
  DeliveryQuery,
  INVOICE_STATUSES,
  RedeliverInput,
  SUBSCRIPTION_STATUSES,
} from '@florin/contract/schemas';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { addServiceSettings } from './commands/services.ts';
import { createProgram } from './program.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

interface Leaf {
  name: string;
  command: Command;
}

/** Every command with an action, with its full name. */
function leavesOf(command: Command, words: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ name: words.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
}

const program = createProgram({ json: true });
const groups = program.commands.filter(({ commands }) => commands.length > 0);
const leaves = leavesOf(program);

/** All that `--help` writes. */
function helpOf(command: Command): string {
  const texts: string[] = [];
  command.configureOutput({ writeOut: (text) => void texts.push(text) });
  command.outputHelp();
  return texts.join('');
}

const examplesOf = (help: string) => [...help.matchAll(/^ {2}\$ (.+)$/gm)].map(([, line = '']) => line);

/** What a shell puts in for a command: one word. */
const SUBSTITUTED = /"\$\(.*?\)"/g;

/** The words of one line for a shell, up to a comment, a pipe or a file; undefined where it is no line of `florin`. */
function wordsOf(line: string): string[] | undefined {
  const [, rest] = /^(?:[A-Z_]+=\S+ )*(?:npx )?florin (.+)$/.exec(line.trim()) ?? [];
  const [command = ''] = rest?.replace(SUBSTITUTED, 'value').split(/\s+#|\s+(?:[|<>&]|\|\|)(?:\s|$)/) ?? [];
  return rest === undefined
    ? undefined
    : [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

/** The command that words name, and those that are left. */
function find(words: readonly string[]): { command: Command; rest: string[] } {
  let command = createProgram({ json: true });
  let at = 0;
  for (let next: Command | undefined = command; next !== undefined; at++) {
    command = next;
    next = command.commands.find((one) => one.name() === words[at]);
  }
  return { command, rest: words.slice(at - 1).filter((word) => word !== '--json') };
}

/** What a variable of a loop stands for. */
const NETWORK = /^\$NETWORK$/;

/** Parses a line with the command itself. @returns its error */
async function mistakesIn(line: string): Promise<string[]> {
  const { command, rest } = find(wordsOf(line) ?? []);
  await addServiceSettings(command);
  const { operands, unknown } = command.parseOptions(rest.map((word) => word.replace(NETWORK, 'erc20')));
  const { registeredArguments: args, options } = command;
  const most = args.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : args.length;
  const missing = options.filter(
    (one) => one.mandatory && command.getOptionValue(one.attributeName()) === undefined,
  );
  return [
    ...(command.commands.length > 0 ? [`${line}: no command`] : []),
    ...unknown.map((word) => `${line}: ${word}`),
    ...missing.map(({ long }) => `${line}: without ${long}`),
    ...(operands.length < args.filter((one) => one.required).length ? [`${line}: too few words`] : []),
    ...(operands.length > most ? [`${line}: too many words`] : []),
  ];
}

const mistakesOf = async (lines: readonly string[]) => (await Promise.all(lines.map(mistakesIn))).flat();

test.each(groups.map((command) => [command.name(), command] as const))(
  'the help of florin %s has examples of its commands',
  async (name, command) => {
    const lines = examplesOf(helpOf(command));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !line.startsWith(`florin ${name} `))).toEqual([]);
    expect(await mistakesOf(lines)).toEqual([]);
  },
);

test.each(leaves.map(({ name, command }) => [name, command] as const))(
  'the help of florin %s has examples that parse, and names options that there are',
  async (name, command) => {
    await addServiceSettings(command);
    const help = helpOf(command);
    const lines = examplesOf(help);
    expect(lines.some((line) => line.includes(`florin ${name}`))).toBe(true);
    expect(await mistakesOf(lines.filter((line) => wordsOf(line) !== undefined))).toEqual([]);
    expect(command.description()).not.toBe('');
    expect(command.options.filter(({ description }) => description === '')).toEqual([]);
    const known = [...command.options, ...program.options].map(({ long }) => long);
    const [about = ''] = help.split('\nExamples:');
    const named = [...about.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);
    expect(named.filter((flag) => flag !== '--help' && !known.includes(flag))).toEqual([]);
  },
);

/** Lines of shell blocks, and commands within sentences, of all pages of the manual. */
function documented(): { lines: string[]; inline: string[] } {
  const docs = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = docs.filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'));
  const texts = ['README.md', 'packages/cli/README.md', ...pages.map((name) => `docs/${name}`)].map((name) =>
    readFileSync(path.join(ROOT, name), 'utf8'),
  );
  const blocks = texts.flatMap((text) =>
    [...text.matchAll(/^```.*\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
      block.replaceAll(/ *\\\n */g, ' '),
    ),
  );
  const inline = texts.flatMap((text) =>
    [...text.matchAll(/`((?:npx )?florin [a-z][^`\n]*)`/g)].map(([, code = '']) => code),
  );
  return {
    lines: blocks.flatMap((block) => block.split('\n')).filter((line) => wordsOf(line) !== undefined),
    inline,
  };
}

/** `invoices list|show` are two. */
function alternatives(code: string): string[] {
  const either = code.split(' ').find((word) => word.includes('|'));
  return either === undefined ? [code] : either.split('|').map((word) => code.replace(either, word));
}

/** What a command within a sentence names that there is not; its arguments may be left out or have names. */
async function strangeIn(code: string): Promise<string[]> {
  const { command, rest } = find(wordsOf(code) ?? []);
  await addServiceSettings(command);
  const known = command.options.map(({ long }) => long);
  const flags = rest.filter((word) => word.startsWith('--') && !known.includes(word));
  return [
    ...(command.commands.length > 0 ? [`${code}: no command`] : []),
    ...flags.map((flag) => `${code}: ${flag}`),
  ];
}

test('every command of the manual is one, with the options that are written there', async () => {
  const { lines, inline } = documented();
  expect(lines.length).toBeGreaterThan(30);
  expect(inline.length).toBeGreaterThan(50);
  expect(await mistakesOf(lines)).toEqual([]);
  expect((await Promise.all(inline.flatMap(alternatives).map(strangeIn))).flat()).toEqual([]);
});

test.each<[name: string, flag: string, values: readonly unknown[]]>([
  ['invoices list', '--status', INVOICE_STATUSES],
  ['subscriptions list', '--status', SUBSCRIPTION_STATUSES],
  ['subscriptions create', '--every', BILLING_INTERVALS],
  ['deliveries list', '--status', DeliveryQuery.properties.status.enum],
  ['deliveries redeliver', '--which', RedeliverInput.properties.which.enum],
])('florin %s %s takes what the API takes', (name, flag, values) => {
  const option = find(name.split(' ')).command.options.find(({ long }) => long === flag);
  expect(option?.argChoices).toEqual(values);
});

test.each([
  'checkout create 1.999 USD',
  'customers update cus_1',
  'deliveries redeliver',
  'deliveries redeliver --endpoint we_1',
  'endpoints update we_1',
  'links create 19.99',
  'refunds create pay_1 --amount 1',
  'subscriptions cancel sub_1 --at-period-end --at 1800000000',
  'subscriptions update sub_1',
])('florin %s is wrong usage, whether or not there are credentials', async (line) => {
  const words = [...line.split(' '), '--data-dir', '/nowhere'];
  const parsed = createProgram({ json: true }).parseAsync(words, { from: 'user' });
  await expect(parsed).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
});
