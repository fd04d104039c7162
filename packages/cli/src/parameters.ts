import { type Command, Option } from 'commander';
import { parseDuration, parseWhole } from './duration.ts';

/** An option whose value is a `T`. `Always`: it has a value where the command line gives none, or may not be left out. */
export class Parameter<T, Always extends boolean = false> extends Option {
  // For the compiler alone: neither exists.
  declare readonly type?: T;
  declare readonly always?: Always;
}

export type Parameters = Readonly<Record<string, Parameter<unknown, boolean>>>;

export const text = (flags: string, description: string) => new Parameter<string>(flags, description);

export const flag = (flags: string, description: string) => new Parameter<true>(flags, description);

export const choice = <const T extends string>(flags: string, description: string, values: readonly T[]) =>
  new Parameter<T>(flags, description).choices(values);

export const parsed = <T>(flags: string, description: string, parse: (word: string) => T) =>
  new Parameter<T>(flags, description).argParser(parse);

export const required = <T>(parameter: Parameter<T>) =>
  parameter.makeOptionMandatory() as Parameter<T, boolean> as Parameter<T, true>;

/** With a value where none is given; `shown` is what the help says that it is. */
export const preset = <T>(parameter: Parameter<T>, value: T, shown?: string) =>
  parameter.default(value, shown) as Parameter<T, boolean> as Parameter<T, true>;

const LIST_LIMIT = 20;
const DAY_SECONDS = 86_400;

export const limit = preset(parsed('--limit <count>', 'at most so many, up to 100', parseWhole), LIST_LIMIT);

/** What a list takes that is read page by page. */
export const page = (noun: string) => ({
  limit,
  starting_after: text(`--after <${noun}>`, 'those behind this one'),
});

/** How long what is replaced goes on, in seconds. */
export const overlap = (what: string) =>
  preset(parsed('--overlap <duration>', `${what}: 30m, 24h, 7d, or 0`, parseDuration), DAY_SECONDS, '24h');

type Field<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}_${Field<Rest>}`
  : Name;

/** The arguments that a usage such as `set <name> [value]` names. */
type Arguments<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? Arguments<Word> & Arguments<Rest>
  : Usage extends `<${infer Name}>`
    ? Record<Field<Name>, string>
    : Usage extends `[${infer Name}]`
      ? Partial<Record<Field<Name>, string>>
      : unknown;

type Values<P extends Parameters> = {
  [K in keyof P as P[K] extends Parameter<unknown, true> ? K : never]: P[K] extends Parameter<infer T, true>
    ? T
    : never;
} & {
  [K in keyof P as P[K] extends Parameter<unknown, true> ? never : K]?: P[K] extends Parameter<infer T>
    ? T
    : never;
};

/** What a command line gives: the arguments of the usage and the options, each under its field. What is left out is absent. */
export type Given<Usage extends string, P extends Parameters> = Arguments<Usage> & Values<P>;

const fieldOf = (name: string) => name.replaceAll('-', '_');

/** What the command line gives, by field. */
export function givenOf(command: Command, options: Parameters): Record<string, unknown> {
  const flags = command.opts();
  const fields = [
    ...command.registeredArguments.map((argument, i) => [fieldOf(argument.name()), command.processedArgs[i]]),
    ...Object.entries(options).map(([field, option]) => [field, flags[option.attributeName()]]),
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
