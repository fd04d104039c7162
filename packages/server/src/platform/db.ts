import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { keepPlans } from './kept-plans.ts';

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
  /** `off` only for writes that a later synchronous commit makes durable (see `platform/nonces.ts`). */
  synchronousCommit?: 'on' | 'off';
  /** Milliseconds to wait for a row that somebody else holds, before the caller is told to come back. */
  lockTimeoutMs?: number | undefined;
  /** A role to step into on every connection: see `platform/service-role.ts`. */
  role?: string | undefined;
  onError?: (error: Error) => void;
}

/** Opens a pool. Nothing is dialled before the first statement. */
export function connect(options: ConnectOptions): Db {
  const session = [
    `-c synchronous_commit=${options.synchronousCommit ?? 'on'}`,
    `-c lock_timeout=${options.lockTimeoutMs ?? 10_000}`,
    '-c statement_timeout=30000',
    '-c idle_in_transaction_session_timeout=30000',
    '-c timezone=UTC',
    // In this form of options a space or a backslash is written with a backslash before it.
    ...(options.role === undefined ? [] : [`-c role=${options.role.replaceAll(/[\\ ]/g, '\\$&')}`]),
  ];
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: 10_000,
    // A statement whose server vanished without closing the socket must not hold its connection for ever.
    query_timeout: 40_000,
    keepAlive: true,
    options: session.join(' '),
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', options.onError ?? (() => {}));
  // The pool listens to idle connections only: one that breaks between two statements of a transaction would end the
  // process too. Its next statement fails, which is all that anybody needs to know.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('connect', keepPlans);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  pools.set(db, pool);
  return db;
}

const pools = new WeakMap<object, pg.Pool>();

/** Connections of a pool that `connect` made, and callers who wait for one. */
export function countConnections(db: Db): { total: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {};
  return { total: totalCount, idle: idleCount, waiting: waitingCount };
}

/** One session of its own for LISTEN and for locks that live as long as the session. */
export async function openSession(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, keepAlive: true, connectionTimeoutMillis: 10_000 });
  await client.connect();
  return client;
}
export type Session = pg.Client;

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
