import { pipeline } from 'node:stream/promises';
import type { CreateOptions, CursorList, Florin } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import {
  type ApproverFlags,
  type ApprovingFlags,
  approverCommand,
  approvingCommand,
  findToken,
  type Prove,
  proveBy,
  SIGNING_WAYS,
  TOKEN_WAYS,
} from './approver.ts';
import { exampleOf } from './examples.ts';
import { leavingSignal } from './leaving.ts';
import { florinOf, type MerchantFlags, merchantCommand } from './merchant.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from './operator.ts';
import { type Given, givenOf, type Options } from './options.ts';
import type { AddCommand } from './resource.ts';
import { allFields, isList, print, show, wantsJson } from './show.ts';
import { cell, formatTable, type Row } from './table.ts';
import { note } from './terminal.ts';

/*
 * Commands from data. A resource is a group of operations. An operation defines its command line, which call of
 * the API or of the operator's interface it makes, and how the answer is shown; commands/risk.ts is a short example.
 */

type Call<Client, Input, T> = (client: Client, input: Input, options: CreateOptions) => Answer<T>;
type Answer<T> = Promise<T | readonly T[]> | CursorList<T>;

interface Shape<T> {
  /** The row of this operation's answer, if it differs from the group's. */
  row?: ((one: T) => Row) | undefined;
  /** A table of its parts, shown below. */
  parts?: (one: T) => readonly Row[];
  /** A text below it. */
  text?: (one: T) => string;
  /** A note beside the answer; of a single one it may depend on what the answer says. */
  note?: string | ((one: T) => string);
}

interface Operation<Client, Line, O, Input, T> extends Shape<T> {
  /** By default the usage with an example id for each argument. */
  examples?: readonly string[];
  /** By the field that each option sets. */
  options?: O;
  /** The help text of `--idempotency-key`, if the operation has one. */
  idempotencyKey?: string;
  /** Validates the command line and builds the call's input, before anything is opened. By default it is the input. */
  read?: (line: Line) => Input | Promise<Input>;
  run: Call<Client, Input, T>;
  /** Of a list without pages: everything that fits, as CSV. */
  csv?: (client: Client, input: Input) => AsyncIterable<Uint8Array>;
  /** Of a list that grows: what is added from now on, until the signal is aborted. */
  follow?: (client: Client, input: Input, signal: AbortSignal) => AsyncIterable<T>;
}

/** A kind of caller: how its commands look, and how they get their client. */
interface Face<Client, Flags, Common> {
  command: (group: Command, usage: string, lines: readonly string[]) => Command;
  /** Follows every description. */
  description?: string;
  /** Appended to every generated example. */
  example?: string;
  /** Options of every command of this kind. */
  common: (flags: Flags) => Common | Promise<Common>;
  open: <T>(flags: Flags, work: (client: Client) => Promise<T>) => Promise<T>;
}

/**
 * Operations of one kind of caller: first the row of an answer (by default all of it), then the
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
    const { idempotencyKey, read, run, csv, follow } = operation;
    const options: Options = operation.options ?? {};
    const lines = operation.examples ?? exampleOf(group, usage, options, face.example);
    const command = face.command(group, usage, lines).description(description + (face.description ?? ''));
    for (const option of Object.values(options)) command.addOption(option);
    const isList = csv !== undefined || 'starting_after' in options;
    if (isList) command.option('--csv', 'all that fit, as CSV');
    if (follow !== undefined) command.option('--follow', 'go on with what is added, until Ctrl-C');
    if (idempotencyKey !== undefined) command.option('--idempotency-key <key>', idempotencyKey);
    command.action(async () => {
      const flags = command.opts<Flags & CreateOptions & { csv?: true; follow?: true }>();
      const line = { ...givenOf(command, options), ...(await face.common(flags)) };
      const input = read === undefined ? (line as Input) : await read(line as Given<Usage, O> & Common);
      const key = flags.idempotencyKey === undefined ? {} : { idempotencyKey: flags.idempotencyKey };
      if (flags.follow === true && follow !== undefined)
        return await face.open(flags, (client) =>
          printFollowed(command, follow(client, input, leavingSignal()), operation.row ?? row),
        );
      if (flags.csv === true)
        return await face.open(flags, (client) =>
          printCsv(csv?.(client, input) ?? csvOf(run(client, input, key))),
        );
      const answer = await face.open(flags, (client) => answerOf(run(client, input, key), 'limit' in line));
      present(command, answer, { row, ...operation });
    });
  };

/** A merchant's commands: API calls with the selected key. */
export const merchant = operationsOf<Florin, MerchantFlags, unknown>({
  command: merchantCommand,
  common: () => ({}),
  open: async (flags, work) => await work(florinOf(flags)),
});

/** The operator's commands: calls of the service's operator interface, on its database. */
export const operator = operationsOf<Operator, DatabaseFlags, unknown>({
  command: databaseCommand,
  common: () => ({}),
  open: withOperator,
});

/** A registered approver's commands, on the database. */
export const approver = operationsOf<Operator, ApproverFlags, { as: string; token: string }>({
  command: approverCommand,
  description: ` ${TOKEN_WAYS}`,
  example: ' --as "Ada Lovelace"',
  common: async (flags) => ({ as: flags.as, token: await findToken(flags) }),
  open: withOperator,
});

/** As `approver`, of what a signer of live money may want a signature for. */
export const approving = operationsOf<Operator, ApprovingFlags, { prove: Prove }>({
  command: approvingCommand,
  description: ` ${SIGNING_WAYS}`,
  example: ' --as "Ada Lovelace"',
  common: async (flags) => ({ prove: await proveBy(flags) }),
  open: withOperator,
});

/** A list of the API: the requested page, else all pages. */
async function answerOf<T>(answer: Answer<T>, isPage: boolean): Promise<T | readonly T[]> {
  if (answer instanceof Promise) return await answer;
  if (isPage) return (await answer.page()).data;
  const all: T[] = [];
  for await (const one of answer) all.push(one);
  return all;
}

function csvOf<T>(answer: Answer<T>): AsyncIterable<Uint8Array> {
  if (answer instanceof Promise) throw new Error('this is no list');
  return answer.csv();
}

/** Writes as fast as the output is read. */
async function printCsv(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  await pipeline(pieces, process.stdout, { end: false });
}

/** A line for each, as they come. */
async function printFollowed<T extends object>(
  command: Command,
  added: AsyncIterable<T>,
  row: (one: T) => Row = allFields,
): Promise<void> {
  for await (const one of added)
    print(wantsJson(command) ? JSON.stringify(one) : Object.values(row(one)).map(cell).join('  '));
}

function present<T extends object>(command: Command, answer: T | readonly T[], shape: Shape<T>): void {
  const { row, parts, text, note: said } = shape;
  show(command, answer, row);
  if (wantsJson(command)) return;
  if (!isList(answer)) {
    if (parts !== undefined) print(`\n${formatTable(parts(answer))}`);
    if (text !== undefined) print(`\n${text(answer)}`);
  }
  if (typeof said === 'string') note(said);
  else if (said !== undefined && !isList(answer)) note(said(answer));
}
