import { keysOf } from '@florin/contract/tables';
import { CompiledQuery } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import { PreparedStatement } from '../platform/db/statements/index.ts';
import { SEPARATOR } from './redact-exchange.ts';
import type { RequestLogRow } from './tables.ts';

type Column = keyof RequestLogRow;

/** One array for each short column. */
const ARRAYS = {
  merchant_id: 'uuid',
  request_id: 'uuid',
  callers_id: 'text',
  store_id: 'uuid',
  key_id: 'uuid',
  is_verified: 'boolean',
  method: 'text',
  route: 'text',
  path: 'text',
  query: 'text',
  status: 'smallint',
  duration_us: 'integer',
  error_code: 'text',
  refusal: 'text',
  remote_address: 'text',
  request_bytes: 'integer',
  answer_bytes: 'integer',
  explanation: 'jsonb',
} as const satisfies Partial<Record<Column, string>>;

/** Long texts travel as one: an array would have to escape every quotation mark of every body. Empty is null. */
const TEXTS = ['request_headers', 'request_body', 'answer_body'] as const satisfies readonly Column[];

const arrayColumns = keysOf(ARRAYS);
const columns: readonly Column[] = [...arrayColumns, ...TEXTS];

const TEXT = `
  insert into request_log (${columns.join(', ')})
  select ${columns.map((name) => (name === 'request_headers' ? `coalesce(r.${name}, '')` : `r.${name}`)).join(', ')}
  from unnest(${[
    ...Object.values(ARRAYS).map((type, i) => `$${i + 1}::${type}[]`),
    ...TEXTS.map((_, i) => `string_to_array($${arrayColumns.length + i + 1}::text, '${SEPARATOR}', '')`),
  ].join(', ')}) as r (${columns.join(', ')})`;
/** PostgreSQL writes such a row in two steps, which takes it a fifth longer: only where it may be there already. */
const TEXT_AGAIN = `${TEXT} on conflict do nothing`;

/**
 * Writes rows of any merchants in one statement and one commit.
 *
 * @param isAgain they may have been written already, by a statement whose answer was lost
 */
export async function writeRequests(
  db: Db,
  rows: readonly RequestLogRow[],
  { isAgain = false } = {},
): Promise<void> {
  const values = [
    ...arrayColumns.map((name) =>
      rows.map((row) =>
        name === 'explanation' && row[name] !== null ? JSON.stringify(row[name]) : row[name],
      ),
    ),
    ...TEXTS.map((name) => rows.map((row) => row[name] ?? '').join(SEPARATOR)),
  ];
  await new PreparedStatement(
    { compile: () => CompiledQuery.raw(isAgain ? TEXT_AGAIN : TEXT, values) },
    false,
  ).execute(db);
}
