import type { CreateOptions, CursorList, Florin } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { type ApproverFlags, approverCommand, findToken, TOKEN_WAYS } from './approver.ts';
import { exampleOf, examples } from './examples.ts';
import { florinOf, type MerchantFlags, merchantCommand } from './merchant.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from './operator.ts';
import { type Given, givenOf, type Options } from './options.ts';
import { print, show, wantsJson } from './show.ts';
import { formatTable, type Row } from './table.ts';
import { note } from './terminal.ts';

/*
 * Commands from data. A resource is a group of operations. An operation says what its command line gives, which call of
 * the API or of the operator's face it makes, and what a person sees of the answer; commands/risk.ts is a short example.
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

type Call<Client, Input, T> = (client: Client, input: Input, options: CreateOptions) => Answer<T>;
type Answer<T> = Promise<T | readonly T[]> | CursorList<T>;

interface Shape<T> {
  /** What a person sees of one, where it is not what is seen of the others. */
  row?: ((one: T) => Row) | undefined;
  /** A table of what it consists of, below. */
  parts?: (one: T) => readonly Row[];
  /** Said to a person beside the answer. */
  note?: string;
}

interface Operation<Client, Line, O, Input, T> extends Shape<T> {
  /** By default the usage with an id of each kind. */
  examples?: readonly string[];
  /** By the field that each gives. */
  options?: O;
  /** What the help says of `--idempotency-key`, where there is one. */
  idempotencyKey?: string;
  /** Checks the command line and makes the input of the call, before anything is opened. By default it is the input. */
  read?: (line: Line) => Input | Promise<Input>;
  run: Call<Client, Input, T>;
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

/**
 * Operations of one face: first what a person sees of one of their answers (all of it where that is left out), then the
 * usage, the description and the operation, or just its call.
 */
const operationsOf =
  <Client, Flags extends object, Common>(face: Face<Client, Flags, Common>) =>
  <T extends object = object>(row?: (one: T) => Row) =>
  <const Usage extends string, O extends Options = Record<never, never>, Input = Given<Usage, O> & Common>(
    usage: Usage,
    description: string,
    operationOrCall: Operation<Client, Given<Usage, O> & Common, O, Input, T> | Call<Client, Input, T>,
  ): AddCommand =>
  (group) => {
    const operation = typeof operationOrCall === 'function' ? { run: operationOrCall } : operationOrCall;
    const { idempotencyKey, read, run } = operation;
    const options: Options = operation.options ?? {};
    const lines = operation.examples ?? exampleOf(group, usage, options, face.example);
    const command = face.command(group, usage, lines).description(description + (face.description ?? ''));
    for (const option of Object.values(options)) command.addOption(option);
    if (idempotencyKey !== undefined) command.option('--idempotency-key <key>', idempotencyKey);
    command.action(async () => {
      const flags = command.opts<Flags & CreateOptions>();
      const line = { ...givenOf(command, options), ...(await face.common(flags)) };
      const input = read === undefined ? (line as Input) : await read(line as Given<Usage, O> & Common);
      const key = flags.idempotencyKey === undefined ? {} : { idempotencyKey: flags.idempotencyKey };
      const answer = await face.open(flags, (client) => answerOf(run(client, input, key), 'limit' in line));
      present(command, answer, { row, ...operation });
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
