import type { CreateOptions, CursorList, Florin } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { type ApproverFlags, approverCommand, findToken, TOKEN_WAYS } from './approver.ts';
import { exampleOf, examples } from './examples.ts';
import { florinOf, type MerchantFlags, merchantCommand } from './merchant.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from './operator.ts';
import { type Given, givenOf, type Parameters } from './parameters.ts';
import { print, show, wantsJson } from './show.ts';
import { formatTable, type Row } from './table.ts';
import { note } from './terminal.ts';

/*
 * Commands from data. A resource is a group of operations; an operation is what the command line gives, the call of the
 * API or of the operator's face that it makes, and what a person sees of the answer. This makes the commands of them.
 */

/** Adds a command to a group: an operation, or code where a command is more than a call. */
export type AddCommand = (group: Command) => void;

interface Resource {
  name: string;
  description: string;
  examples: readonly string[];
  operations: readonly AddCommand[];
}

export function resource({ name, description, examples: lines, operations }: Resource): AddCommand {
  return (program) => {
    const group = examples(program.command(name).description(description), lines);
    for (const add of operations) add(group);
  };
}

type Answer<T> = Promise<T | readonly T[]> | CursorList<T>;

interface Shape<T> {
  /** What a person sees of one. */
  row?: (one: T) => Row;
  /** A table of what it consists of, below. */
  parts?: (one: T) => readonly Row[];
  /** Said to a person beside the answer. */
  note?: string;
}

interface Operation<Client, Line, Options, Input, T> extends Shape<T> {
  /** By default the usage with an id of each kind. */
  examples?: readonly string[];
  /** By the field that each gives. */
  options?: Options;
  /** What the help says of `--idempotency-key`, where there is one. */
  idempotencyKey?: string;
  /** Checks the command line and makes the input of the call, before anything is opened. By default it is the input. */
  read?: (line: Line) => Input;
  call: (client: Client, input: Input, options: CreateOptions) => Answer<T>;
}

/** Who may call what: how a command of theirs looks, and how it comes to its client. */
interface Face<Client, Flags, Common> {
  command: (group: Command, usage: string, lines: readonly string[]) => Command;
  /** Follows every description. */
  description?: string;
  /** Follows every example that is made from a usage. */
  example?: string;
  /** What every command of theirs gives. */
  common: (flags: Flags) => Common | Promise<Common>;
  open: <T>(flags: Flags, work: (client: Client) => Promise<T>) => Promise<T>;
}

/** Makes operations of one face. */
const operationsOf =
  <Client, Flags extends object, Common>(face: Face<Client, Flags, Common>) =>
  <
    const Usage extends string,
    T extends object,
    Options extends Parameters = Record<never, never>,
    Input = Given<Usage, Options> & Common,
  >(
    usage: Usage,
    description: string,
    operation: Operation<Client, Given<Usage, Options> & Common, Options, Input, T>,
  ): AddCommand =>
  (group) => {
    const { idempotencyKey, read, call } = operation;
    const options: Parameters = operation.options ?? {};
    const lines = operation.examples ?? exampleOf(group, usage, options, face.example);
    const command = face.command(group, usage, lines).description(description + (face.description ?? ''));
    for (const option of Object.values(options)) command.addOption(option);
    if (idempotencyKey !== undefined) command.option('--idempotency-key <key>', idempotencyKey);
    command.action(async () => {
      const flags = command.opts<Flags & CreateOptions>();
      const line = { ...givenOf(command, options), ...(await face.common(flags)) };
      const input = read?.(line as Given<Usage, Options> & Common) ?? (line as Input);
      const key = flags.idempotencyKey === undefined ? {} : { idempotencyKey: flags.idempotencyKey };
      const answer = await face.open(flags, (client) => answerOf(call(client, input, key), 'limit' in line));
      present(command, answer, operation);
    });
  };

/** A merchant's: calls of the API with the key that is found. */
export const merchant = operationsOf<Florin, MerchantFlags, unknown>({
  command: merchantCommand,
  common: () => ({}),
  open: async (flags, work) => await work(florinOf(flags)),
});

/** The operator's: calls of the service's own face, on its database. */
export const operator = operationsOf<Operator, DatabaseFlags, unknown>({
  command: databaseCommand,
  common: () => ({}),
  open: withOperator,
});

/** A registered approver's, on the database too. */
export const approver = operationsOf<Operator, ApproverFlags, { as: string; token: string }>({
  command: approverCommand,
  description: ` ${TOKEN_WAYS}`,
  example: ' --as "Ada Lovelace"',
  common: async (flags) => ({ as: flags.as, token: await findToken(flags) }),
  open: withOperator,
});

/** A list of the API: the page that was asked for, else all of it. */
async function answerOf<T>(answer: Answer<T>, isPage: boolean): Promise<T | readonly T[]> {
  if (answer instanceof Promise) return await answer;
  if (isPage) return (await answer.page()).data;
  const all: T[] = [];
  for await (const one of answer) all.push(one);
  return all;
}

function present<T extends object>(command: Command, answer: T | readonly T[], shape: Shape<T>): void {
  const { row, parts, note: said } = shape;
  show(command, answer, row);
  if (wantsJson(command)) return;
  if (parts !== undefined) print(`\n${formatTable(parts(answer as T))}`);
  if (said !== undefined) note(said);
}
