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
  const text = `(${SERIAL} * 16 + ${seed})`;
  return UUID.test(value) ? `lpad(to_hex(${text}), 32, '0')::uuid` : `md5(${text}::text)`;
}

/** Longer text and lists are content and no key: they may come again. */
const KEY_FORM = /^[^{].{0,127}$/;

const isFresh = (value: unknown, other: unknown) =>
  typeof value === 'string' && KEY_FORM.test(value) && typeof other === 'string' && value !== other;

const onlyOf = (value: unknown) => (Array.isArray(value) && value.length === 1 ? value[0] : undefined);

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
  const statements = second.map(({ text, values, session, trip }, s) => ({
    trip,
    async: session.includes('synchronous_commit=off'),
    text: text.replaceAll(/\s+/g, ' ').replaceAll(/\$(\d+)/g, (_, number) => {
      const i = Number(number) - 1;
      const value = values[i];
      const other = first[s]?.values[i];
      if (isFresh(value, other)) return freshExpression(String(value), seeds);
      // A list of one is a row of its own, such as a job with its id.
      const [only, otherOnly] = [onlyOf(value), onlyOf(other)];
      if (isFresh(only, otherOnly)) return `array[${freshExpression(String(only), seeds)}]`;
      const constant = textOf(value);
      return constant === undefined ? 'null' : nameOf(constant);
    }),
  }));
  const session = second.find(({ session }) => !session.includes('synchronous_commit=off'))?.session ?? '';
  return { statements, constants, session, tables: [...tablesOf(second)] };
}

function tablesOf(statements: readonly Statement[]): Set<string> {
  const found = statements.flatMap(({ text }) => [...text.matchAll(/insert into "?(\w+)"?/gi)]);
  return new Set(found.map((match) => match[1] ?? ''));
}
