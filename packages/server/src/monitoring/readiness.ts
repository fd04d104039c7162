import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import { CLOCKS_AGREE_WITHIN_MS, type Clock } from '../platform/db/index.ts';
import { pendingMigrations } from '../platform/db/migrations/index.ts';
import type { PageAnswer, PublicPage } from '../platform/http/pages/index.ts';
import type { ServiceState } from './state.ts';

const ANSWER_WITHIN_MS = 3_000;
const JSON_TYPE = 'application/json; charset=utf-8';

export interface ReadinessDeps {
  db: Db;
  simulatedDb: Db;
  clock: Pick<Clock, 'offsetMs'>;
  readState: () => Promise<ServiceState>;
}

/** `failed` takes the node out of service; `warning` is for people, since other nodes have the same problem. */
export interface Check {
  name: string;
  status: 'ok' | 'warning' | 'failed';
  message?: string;
}

type Finding = Omit<Check, 'name'>;
const OK: Finding = { status: 'ok' };
const failed = (message: string): Finding => ({ status: 'failed', message });
const warning = (message: string): Finding => ({ status: 'warning', message });

/**
 * `/healthz`: the process answers. `/readyz`: whether it can serve. The single checks name migrations, networks and numbers
 * of jobs, so they are shown to monitoring only.
 */
export function healthPages(deps: ReadinessDeps, detail: 'status' | 'checks'): PublicPage[] {
  return [
    { path: '/healthz', handle: async () => json(200, { status: 'ok' }) },
    {
      path: '/readyz',
      handle: async () => {
        const checks = await checkAll(deps);
        const isReady = checks.every((check) => check.status !== 'failed');
        const status = isReady ? 'ready' : 'not_ready';
        return json(isReady ? 200 : 503, detail === 'checks' ? { status, checks } : { status });
      },
    },
  ];
}

const json = (status: number, body: object): PageAnswer => ({
  status,
  type: JSON_TYPE,
  body: JSON.stringify(body),
});

async function checkAll(deps: ReadinessDeps): Promise<Check[]> {
  const { db, simulatedDb, clock, readState } = deps;
  const checks: Record<string, Promise<Finding>> = {
    database: checkDatabase(db, 'the database'),
    migrations: checkMigrations(db),
    simulated_chains: checkDatabase(simulatedDb, 'the database of the simulated chains'),
    clock: Promise.resolve(checkClock(clock.offsetMs)),
    workers: checkWorkers(readState),
    networks: checkNetworks(readState),
    history: checkHistory(readState),
  };
  return await Promise.all(Object.entries(checks).map(async ([name, check]) => ({ name, ...(await check) })));
}

/** Rejects after 3 s, for a database that accepts connections and does not answer. */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer in time')), ANSWER_WITHIN_MS);
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

async function checkDatabase(db: Db, name: string): Promise<Finding> {
  try {
    await withTimeout(sql`select 1`.execute(db));
    return OK;
  } catch {
    return failed(`${name} does not answer`);
  }
}

async function checkMigrations(db: Db): Promise<Finding> {
  try {
    const { rows } = await withTimeout(sql<{ name: string }>`select name from kysely_migration`.execute(db));
    const pending = await pendingMigrations(rows.map((row) => row.name));
    return pending.length === 0 ? OK : failed(`to apply: ${pending.join(', ')} (run florin migrate)`);
  } catch {
    return failed('unknown, as the database does not answer');
  }
}

function checkClock(offsetMs: number): Finding {
  if (Math.abs(offsetMs) <= CLOCKS_AGREE_WITHIN_MS) return OK;
  const seconds = Math.round(offsetMs / 1000);
  return failed(
    `this machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the database's`,
  );
}

async function checkWorkers(readState: ReadinessDeps['readState']): Promise<Finding> {
  try {
    const { workers, jobs } = await withTimeout(readState());
    const late = jobs.reduce((sum, job) => sum + job.late, 0);
    if (workers > 0 || late === 0) return OK;
    return warning(`${late} jobs are due and no worker runs (florin work)`);
  } catch {
    return warning('unknown, as the database does not answer');
  }
}

async function checkNetworks(readState: ReadinessDeps['readState']): Promise<Finding> {
  try {
    const { stops } = await withTimeout(readState());
    const stopped = stops.filter((stop) => stop.what === 'sending');
    if (stopped.length === 0) return OK;
    const names = [...new Set(stopped.map((stop) => stop.network))].join(', ');
    return warning(`sending is stopped on ${names} (florin networks list)`);
  } catch {
    return warning('unknown, as the database does not answer');
  }
}

async function checkHistory(readState: ReadinessDeps['readState']): Promise<Finding> {
  try {
    const { historyChanged } = await withTimeout(readState());
    if (!historyChanged) return OK;
    return warning(
      'history_changed: this database is a copy, or another copy of it sends; payouts wait (florin ledger adopt-history)',
    );
  } catch {
    return warning('unknown, as the database does not answer');
  }
}
