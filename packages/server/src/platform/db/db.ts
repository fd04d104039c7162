import { Kysely, type Transaction } from 'kysely';
import pg from 'pg';
import { pooledDialect } from './driver.ts';
import { PROCESS_NAME } from './process-name.ts';

// int8 is money or a time: never a float.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);

/**
 * All tables of the product. A module declares its own tables by merging into this interface, and queries only these.
 */
export interface Tables {
  /** Written by the migrator; declared here because the readiness check reads it. */
  kysely_migration: { name: string; timestamp: string };
}

/** A pool or a transaction. */
export type Db = Kysely<Tables>;
/** A function that locks or changes rows takes a `Tx`, so that it cannot run outside a transaction. */
export type Tx = Transaction<Tables>;

export interface ConnectOptions {
  url: string;
  /**
   * Maximum number of connections. A transaction never takes a second one, so a pool of any size cannot deadlock
   * itself.
   */
  poolSize: number;
  /** `off` only for writes that a later synchronous commit makes durable (see `stores/keys/nonces.ts`). */
  synchronousCommit?: 'on' | 'off';
  /** Milliseconds to wait for a row lock before the request fails as retryable (8,000). */
  lockTimeoutMs?: number | undefined;
  /**
   * Maximum duration of a statement in milliseconds (9,000); the server then cancels it. If no answer arrives one
   * second later, the connection is considered dead. Use more only for work that no caller waits for: schema changes,
   * sums over whole tables.
   */
  statementMs?: number | undefined;
  /** The role that every connection takes: see `platform/db/migrations/service-role.ts`. */
  role?: string | undefined;
  onError?: (error: Error) => void;
}

const LOCK_MS = 8_000;
const STATEMENT_MS = 9_000;
/** Time for the server's cancellation error to arrive. */
const SILENCE_MS = 1_000;
/** Without an answer within this time the connection is considered dead. */
const ANSWER_MS = STATEMENT_MS + SILENCE_MS;
/** A transaction idle for this long is ended, because it holds locks. */
const IDLE_MS = 30_000;

/** Opens a pool. It connects with the first statement. */
export function connect(options: ConnectOptions): Db {
  const { statementMs = STATEMENT_MS, lockTimeoutMs = LOCK_MS } = options;
  const session = [
    `-c synchronous_commit=${options.synchronousCommit ?? 'on'}`,
    `-c lock_timeout=${lockTimeoutMs}`,
    `-c statement_timeout=${statementMs}`,
    `-c idle_in_transaction_session_timeout=${IDLE_MS}`,
    '-c timezone=UTC',
    // The `options` parameter needs a backslash before each space and backslash.
    ...(options.role === undefined ? [] : [`-c role=${options.role.replaceAll(/[\\ ]/g, '\\$&')}`]),
  ];
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: statementMs + SILENCE_MS,
    keepAlive: true,
    application_name: PROCESS_NAME,
    options: session.join(' '),
  });
  // The pool replaces an idle connection that breaks. Without a listener the error would end the process.
  // Errors while the pool ends are ignored: the pool does not wait for the server to close its connections.
  pool.on('error', (error) => pool.ending || options.onError?.(error));
  // The pool handles errors of idle connections only. A connection that breaks between two statements of a transaction
  // would end the process too. Its next statement fails, so the error needs no handling here.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: pooledDialect(pool) });
  pools.set(db, pool);
  return db;
}

const pools = new WeakMap<object, pg.Pool>();

/** Connections of a pool made by `connect`, and the number of callers that wait for one. */
export function countConnections(db: Db): { total: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {};
  return { total: totalCount, idle: idleCount, waiting: waitingCount };
}

/** Options of a session outside the pool. */
export interface SessionOptions {
  /** Maximum duration of a statement, in milliseconds (10,000). */
  answerMs?: number;
  /** Milliseconds without a statement after which the server ends the session (never). */
  idleMs?: number;
}

/** Opens a session outside the pool, for LISTEN and for session-level locks. */
export async function openSession(url: string, options: SessionOptions = {}): Promise<pg.Client> {
  const { answerMs = ANSWER_MS, idleMs = 0 } = options;
  const client = new pg.Client({
    connectionString: url,
    application_name: PROCESS_NAME,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: answerMs,
    options: `-c idle_session_timeout=${idleMs} -c idle_in_transaction_session_timeout=${idleMs}`,
  });
  // Without a listener a broken connection would end the process. The next statement fails; a caller that must know
  // earlier adds its own listener.
  client.on('error', () => {});
  await client.connect();
  return client;
}
export type Session = pg.Client;

/**
 * Runs work, such as a schema change, in a session of its own. If the process hangs meanwhile, the server ends the
 * session and releases its locks.
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

/** True if the database is unreachable, full, busy or shutting down: the caller may retry later (503). */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error && DRIVER_TEXTS.test(error.message);
  return (
    UNAVAILABLE_CLASSES.includes(code.slice(0, 2)) || UNAVAILABLE_CODES.has(code) || NETWORK_CODES.has(code)
  );
}

/** True if the transaction lost a race and was rolled back completely: running it again is safe. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}
