import { isoOf } from '../clock.ts';
import { codeOf, inSession, type Session } from '../db.ts';
import { firstIdAt } from '../ids/ids.ts';

// Tables partitioned by day, by the time in one of their ids (UUID version 7): `event` has `event_p20261121` and so on,
// and a default partition for rows without a partition of their day. Only the owner of the tables may add and drop
// partitions, so this uses a session that has not taken the service's role.

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
/** Adding or dropping a partition locks the whole table for a moment. It gives up soon, so that it blocks nobody. */
const LOCK_TIMEOUT_MS = 2_000;
/** Rows of the default partition are deleted one by one, which takes time. */
const ANSWER_MS = 600_000;
const ONE_AT_A_TIME_LOCK = 7_003;
/** The lock was not free; the default partition holds rows of that day; the user does not own the table. */
const LATER = new Set(['55P03', '23514', '42501']);

export interface DayPartitionsReport {
  added: string[];
  dropped: string[];
  /** Partitions that could not be added or dropped, with the reason; tried again the next time. */
  left: { partition: string; reason: string }[];
}

/** Names of one table sort by day. */
function partitionOf(table: string, dayStartMs: number): string {
  return `${table}_p${isoOf(dayStartMs)?.slice(0, 10).replaceAll('-', '')}`;
}

/**
 * Adds the partitions from today to three days ahead. Drops partitions that ended more than `keepDays` days ago with
 * all their rows, and deletes rows of that age from the default partition.
 *
 * @param keepDays undefined: drop nothing.
 */
export async function maintainDays(
  url: string,
  tables: readonly string[],
  keepDays?: number,
): Promise<DayPartitionsReport> {
  return await inSession(url, (session) => maintain(session, tables, keepDays), { answerMs: ANSWER_MS });
}

async function maintain(
  session: Session,
  tables: readonly string[],
  keepDays: number | undefined,
): Promise<DayPartitionsReport> {
  const report: DayPartitionsReport = { added: [], dropped: [], left: [] };
  await session.query('select pg_advisory_lock($1)', [ONE_AT_A_TIME_LOCK]);
  await session.query(`select set_config('lock_timeout', $1, false)`, [String(LOCK_TIMEOUT_MS)]);
  const { rows } = await session.query<{ now_ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms',
  );
  const todayMs = Math.floor((rows[0]?.now_ms ?? 0) / DAY_MS) * DAY_MS;
  for (const table of tables) {
    await addDays(session, { table, todayMs }, report);
    if (keepDays !== undefined) await dropDays(session, { table, todayMs, keepDays }, report);
  }
  return report;
}

async function listDays(session: Session, table: string): Promise<string[]> {
  const { rows } = await session.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and c.relname ~ '_p[0-9]{8}$' order by c.relname`,
    [table],
  );
  return rows.map((row) => row.name);
}

/** The id by whose time a table is divided. */
async function dividingColumn(session: Session, table: string): Promise<string> {
  const { rows } = await session.query<{ key: string }>('select pg_get_partkeydef($1::regclass) as key', [
    table,
  ]);
  return /\((\w+)\)/.exec(rows[0]?.key ?? '')?.[1] ?? '';
}

async function addDays(
  session: Session,
  { table, todayMs }: { table: string; todayMs: number },
  report: DayPartitionsReport,
): Promise<void> {
  const known = new Set(await listDays(session, table));
  for (let day = 0; day <= DAYS_AHEAD; day++) {
    const fromMs = todayMs + day * DAY_MS;
    const name = partitionOf(table, fromMs);
    if (known.has(name)) continue;
    const bounds = `from ('${firstIdAt(fromMs)}') to ('${firstIdAt(fromMs + DAY_MS)}')`;
    if (await tried(session, name, `create table ${name} partition of ${table} for values ${bounds}`, report))
      report.added.push(name);
  }
}

async function dropDays(
  session: Session,
  { table, todayMs, keepDays }: { table: string; todayMs: number; keepDays: number },
  report: DayPartitionsReport,
): Promise<void> {
  const firstKeptMs = todayMs - keepDays * DAY_MS;
  const firstKept = partitionOf(table, firstKeptMs);
  for (const name of (await listDays(session, table)).filter((day) => day < firstKept)) {
    if (await tried(session, name, `drop table ${name}`, report)) report.dropped.push(name);
  }
  const strays = `${table}_default`;
  const id = await dividingColumn(session, table);
  await tried(session, strays, `delete from ${strays} where ${id} < '${firstIdAt(firstKeptMs)}'`, report);
}

async function tried(
  session: Session,
  partition: string,
  statement: string,
  report: DayPartitionsReport,
): Promise<boolean> {
  try {
    await session.query(statement);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !LATER.has(code)) throw error;
    report.left.push({ partition, reason: String(error) });
    return false;
  }
}
