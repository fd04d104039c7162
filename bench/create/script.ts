import type { Recording, Statement } from './recording.ts';

/** The recorded SQL as something to be run again and again, each time as another request. */
export interface Script {
  statements: ScriptStatement[];
  /** Values that are the same in every request, by name, in PostgreSQL's text form. */
  constants: Record<string, string>;
  /** Options of the session that the transaction runs in. */
  session: string;
  /** Tables that a request adds rows to. */
  tables: string[];
  /** The numbers of the values that are fresh in each request, by what they were in the recording. */
  seeds: Record<string, number>;
}

export interface ScriptStatement {
  /** With `:name` for constants, and fresh values as expressions over `:n` (rises) and `:client_id`. */
  text: string;
  /** Sent on the session that commits without waiting for the disk. */
  async: boolean;
  /** Statements with the same number go out together. */
  trip: number;
}

/** Rises from request to request, never the same for two clients. */
const SERIAL = '(:n::bigint * 64 + :client_id::bigint)';
/** Fresh values of one request at most. */
const SEEDS_MAX = 64;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Text form of a parameter, as the driver sends it; null has none. */
function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (Array.isArray(value)) return `{${value.map(elementOf).join(',')}}`;
  if (typeof value === 'object') return JSON.stringify(value);
  return typeof value === 'string' ? value : `${value as number | bigint | boolean}`;
}

function elementOf(value: unknown): string {
  const text = textOf(value);
  return text === undefined ? 'NULL' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** What is another value in each request: ids rise as those of the service do, nonces and keys are random. */
function freshExpression(value: string, seeds: Map<string, number>): string {
  const seed = seeds.get(value) ?? seeds.size;
  seeds.set(value, seed);
  if (seed >= SEEDS_MAX) throw new Error('a request has more fresh values than numbers are kept apart for');
  const text = `(${SERIAL} * ${SEEDS_MAX} + ${seed})`;
  return UUID.test(value) ? `lpad(to_hex(${text}), 32, '0')::uuid` : `md5(${text}::text)`;
}

/** Longer text and lists are content and no key: they may come again. */
const KEY_FORM = /^[^{].{0,127}$/;

const isFresh = (value: unknown, other: unknown) =>
  typeof value === 'string' && KEY_FORM.test(value) && typeof other === 'string' && value !== other;

/** A number of a row of its own that rises from request to request, such as a sequence. */
const isRising = (value: unknown, other: unknown) =>
  typeof value === 'bigint' && typeof other === 'bigint' && value !== other;

/** Longer lists are the content of a large request. */
const LIST_MAX = 8;
/** Of 32: the others are the request's. */
const ID_DIGITS_OF_ROW = 8;

/** A short list of rows of their own, such as jobs with their ids: pairs of what stood in both recordings. */
function pairsOf(value: unknown, other: unknown): [unknown, unknown][] {
  if (!Array.isArray(value) || !Array.isArray(other)) return [];
  if (value.length !== other.length || value.length > LIST_MAX) return [];
  const pairs = value.map((one, i): [unknown, unknown] => [one, other[i]]);
  return pairs.some(([one, two]) => isFresh(one, two) || isRising(one, two)) ? pairs : [];
}

/** The ids of a list; empty for what is no list of ids. */
function idsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  const ids = list.filter((one) => typeof one === 'string').filter((one) => UUID.test(one));
  return ids.length === list.length ? ids : [];
}

/** The same in every statement of one request, and others in the next one. */
function freshIds(ids: readonly string[], seeds: Map<string, number>): string {
  const first = `replace(${freshExpression(String(ids[0]), seeds)}::text, '-', '')`;
  const ofRow = `lpad(to_hex(i), ${ID_DIGITS_OF_ROW}, '0')`;
  return `array(select (right(${first}, ${32 - ID_DIGITS_OF_ROW}) || ${ofRow})::uuid from generate_series(1, ${ids.length}) as i)`;
}

/** @throws where two requests did not send the same statements */
export function scriptOf({ first, second }: Recording): Script {
  const texts = (statements: readonly Statement[]) => statements.map(({ text }) => text).join('\n');
  if (texts(first) !== texts(second)) throw new Error('two requests sent different statements');
  const constants: Record<string, string> = {};
  const seeds = new Map<string, number>();
  const nameOf = (text: string) => {
    const name = `c${Object.keys(constants).length}`;
    constants[name] = text;
    return `:${name}`;
  };
  const constantOf = (value: unknown) => {
    const text = textOf(value);
    return text === undefined ? 'null' : nameOf(text);
  };
  const elementExpression = ([value, other]: [unknown, unknown]) => {
    if (isRising(value, other)) return SERIAL;
    return isFresh(value, other) ? freshExpression(String(value), seeds) : constantOf(value);
  };
  const statements = second.map(({ text, values, session, trip }, s) => ({
    trip,
    async: session.includes('synchronous_commit=off'),
    text: text.replaceAll(/\s+/g, ' ').replaceAll(/\$(\d+)/g, (_, number) => {
      const i = Number(number) - 1;
      const value = values[i];
      const other = first[s]?.values[i];
      if (isFresh(value, other)) return freshExpression(String(value), seeds);
      const pairs = pairsOf(value, other);
      if (pairs.length > 0) return `array[${pairs.map(elementExpression).join(', ')}]`;
      const ids = idsOf(value);
      const isNew = ids.length > 0 && ids.join() !== idsOf(other).join();
      return isNew ? freshIds(ids, seeds) : constantOf(value);
    }),
  }));
  const session = second.find(({ session }) => !session.includes('synchronous_commit=off'))?.session ?? '';
  return { statements, constants, session, tables: [...tablesOf(second)], seeds: Object.fromEntries(seeds) };
}

function tablesOf(statements: readonly Statement[]): Set<string> {
  const found = statements.flatMap(({ text }) => [...text.matchAll(/insert into "?(\w+)"?/gi)]);
  return new Set(found.map((match) => match[1] ?? ''));
}
