import { ASSETS, NETWORKS } from '@florin/contract/money';
import { SORTS } from '@florin/contract/schemas';
import { type Command, Option } from 'commander';
import { parseDuration, parseMoment, parseWhole } from './duration.ts';

/** An option whose value is a `T`; `Always` where there is one on every command line. */
export class TypedOption<T, Always extends boolean = false> extends Option {
  // For the compiler alone: neither exists at run time.
  declare readonly type?: T;
  declare readonly always?: Always;
}

export type Options = Readonly<Record<string, TypedOption<unknown, boolean>>>;

export const text = (flags: string, description: string) => new TypedOption<string>(flags, description);

export const flag = (flags: string, description: string) => new TypedOption<true>(flags, description);

export const choice = <const T extends string>(flags: string, description: string, values: readonly T[]) =>
  new TypedOption<T>(flags, description).choices(values);

export const parsed = <T>(flags: string, description: string, parse: (word: string) => T) =>
  new TypedOption<T>(flags, description).argParser(parse);

export function required<T>(option: TypedOption<T>): TypedOption<T, true>;
export function required(option: Option): Option {
  return option.makeOptionMandatory();
}

/** An option with a default; `shown` is its text in the help. */
export function preset<T>(option: TypedOption<T>, value: T, shown?: string): TypedOption<T, true>;
export function preset(option: Option, value: unknown, shown?: string): Option {
  return option.default(value, shown);
}

const LIST_LIMIT = 20;
const DAY_SECONDS = 86_400;

export const limit = preset(parsed('--limit <count>', 'at most so many, up to 100', parseWhole), LIST_LIMIT);

/** Options of paginated lists. */
export const page = (noun: string) => ({
  limit,
  starting_after: text(`--after <${noun}>`, 'those behind this one'),
});

export const sort = choice('--sort <order>', 'created: oldest first; -created: newest first', SORTS);

/** Options of lists in the order in which their items were made. */
export const sortedPage = (noun: string) => ({ ...page(noun), sort });

export const network = choice('--network <network>', 'on this network', NETWORKS);
export const token = choice('--currency <code>', 'in this token', ASSETS);

/** Limits a list to what was made in a stretch of time; see `madeBetween`. */
export const made = {
  since: parsed('--since <time>', 'made since then: today, 24h, 2026-11-20 (UTC)', (word) =>
    parseMoment(word),
  ),
  until: parsed('--until <time>', 'made before then', (word) => parseMoment(word)),
};

/** `--since` and `--until` as a list of the API takes them. */
export function madeBetween<Line extends { since?: number; until?: number }>({
  since,
  until,
  ...query
}: Line) {
  const created = {
    ...(since === undefined ? {} : { gte: since }),
    ...(until === undefined ? {} : { lt: until }),
  };
  return { ...query, ...(Object.keys(created).length === 0 ? {} : { created }) };
}

/** How long the replaced secret stays valid, in seconds. */
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

type AlwaysGiven = TypedOption<unknown, true>;
type Values<O extends Options> = {
  [Name in keyof O as O[Name] extends AlwaysGiven ? Name : never]: NonNullable<O[Name]['type']>;
} & {
  [Name in keyof O as O[Name] extends AlwaysGiven ? never : Name]?: NonNullable<O[Name]['type']>;
};

/** The parsed command line: arguments and options by field name; absent ones are left out. */
export type Given<Usage extends string, O extends Options> = Arguments<Usage> & Values<O>;

const fieldOf = (name: string) => name.replaceAll('-', '_');

export function givenOf(command: Command, options: Options): Record<string, unknown> {
  const flags = command.opts();
  const fields = [
    ...command.registeredArguments.map((argument, i) => [fieldOf(argument.name()), command.processedArgs[i]]),
    ...Object.entries(options).map(([field, option]) => [field, flags[option.attributeName()]]),
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
