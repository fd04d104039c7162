import { Kysely, type Transaction } from 'kysely';
import pg from 'pg';
import { pooledDialect } from './driver.ts';

// int8 is money or a time: never a float.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);

/** Every table of the product. A module declares its own by merging into this interface, and queries no other's. */
export interface Tables {
  /** Kept by the migrator; here so that readiness can ask for it. */
  kysely_migration: { name: string; timestamp: string };
}

/** A pool, or the transaction one is in. */
export type Db = Kysely<Tables>;
/** A statement that locks or changes asks for `Tx`, so that it cannot run outside a transaction. */
export type Tx = Transaction<Tables>;

export interface ConnectOptions {
  url: string;
  /** Connections at most. A transaction never takes a second one, so a pool of any size cannot deadlock itself. */
  poolSize: number;
  /** `off` only for writes that a later synchronous commit makes durable (see `stores/nonces.ts`). */
  synchronousCommit?: 'on' | 'off';
  /** Milliseconds to wait for a row that somebody else holds, before the caller is told to come back (8,000). */
  lockTimeoutMs?: number | undefined;
  /**
   * Milliseconds that a statement may take (9,000): the server ends it then. Where even that is not heard of a second
   * later, the line is dead. More only for what nobody waits for: schema changes, sums over whole tables.
   */
  statementMs?: number | undefined;
  /** A role to step into on every connection: see `platform/db/service-role.ts`. */
  role?: string | undefined;
  onError?: (error: Error) => void;
}

const LOCK_MS = 8_000;
const STATEMENT_MS = 9_000;
/** For a server's word that it ended a statement to arrive. */
const SILENCE_MS = 1_000;
/** The server answers within this time in any case, or no more. */
const ANSWER_MS = STATEMENT_MS + SILENCE_MS;
/** Whoever holds locks and says nothing for so long stands still. */
const IDLE_MS = 30_000;

/** Opens a pool. Nothing is dialled before the first statement. */
export function connect(options: ConnectOptions): Db {
  const { statementMs = STATEMENT_MS, lockTimeoutMs = LOCK_MS } = options;
  const session = [
    `-c synchronous_commit=${options.synchronousCommit ?? 'on'}`,
    `-c lock_timeout=${lockTimeoutMs}`,
    `-c statement_timeout=${statementMs}`,
    `-c idle_in_transaction_session_timeout=${IDLE_MS}`,
    '-c timezone=UTC',
    // In this form of options a space or a backslash is written with a backslash before it.
    ...(options.role === undefined ? [] : [`-c role=${options.role.replaceAll(/[\\ ]/g, '\\$&')}`]),
  ];
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: statementMs + SILENCE_MS,
    keepAlive: true,
    options: session.join(' '),
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  // One that breaks while the pool ends was left already: the pool's end does not wait for the server's.
  pool.on('error', (error) => pool.ending || options.onError?.(error));
  // The pool listens to idle connections only: one that breaks between two statements of a transaction would end the
  // process too. Its next statement fails, which is all that anybody needs to know.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: pooledDialect(pool) });
  pools.set(db, pool);
  return db;
}

const pools = new WeakMap<object, pg.Pool>();

/** Connections of a pool that `connect` made, and callers who wait for one. */
export function countConnections(db: Db): { total: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {};
  return { total: totalCount, idle: idleCount, waiting: waitingCount };
}

/** Of a session of its own. */
export interface SessionOptions {
  /** How long a statement may take, in milliseconds (10,000). */
  answerMs?: number;
  /** After how many milliseconds without a statement the server ends it (never). */
  idleMs?: number;
}

/** One session of its own, for LISTEN and for locks that live as long as the session. */
export async function openSession(url: string, options: SessionOptions = {}): Promise<pg.Client> {
  const { answerMs = ANSWER_MS, idleMs = 0 } = options;
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: answerMs,
    options: `-c idle_session_timeout=${idleMs} -c idle_in_transaction_session_timeout=${idleMs}`,
  });
  // Without a listener a line that breaks would end the process; the next statement fails, and whoever must know earlier
  // listens too.
  client.on('error', () => {});
  await client.connect();
  return client;
}
export type Session = pg.Client;

/**
 * Does a piece of work in a session of its own, such as a change of the schema. A process that stands still in the midst
 * of it loses the session, and with it the locks that others wait for.
 */
export async function inSession<T>(
  url: string,
  work: (session: Session) => Promise<T>,
  { idleMs = IDLE_MS, ...options }: SessionOptions = {},
): Promise<T> {
  const session = await openSession(url, { ...options, idleMs });
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

const UNAVAILABLE_CLASSES = ['08', '53', '57'];
const UNAVAILABLE_CODES = new Set(['55P03', '25P03', '25006', 'XX000']);
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]);
const DRIVER_TEXTS =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;

/** The SQLSTATE or system code of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** True where the database is away, full, busy or shutting down: the caller may come back later (503). */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error && DRIVER_TEXTS.test(error.message);
  return (
    UNAVAILABLE_CLASSES.includes(code.slice(0, 2)) || UNAVAILABLE_CODES.has(code) || NETWORK_CODES.has(code)
  );
}

/** True where the transaction lost a race and was rolled back whole: running it again is safe. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}
