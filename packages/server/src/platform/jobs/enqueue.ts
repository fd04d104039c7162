import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/db.ts';
import { newId } from '../db/ids/ids.ts';
import { listed } from '../db/statements/rows.ts';
import { deferred } from '../db/statements/statement.ts';
import { activeTrace } from '../observability/tracing.ts';
import { notifyWorkers } from './worker-notifier.ts';

/** Work to do later, written in the transaction of its cause. */
export interface JobSpec {
  /** `NIL_ID` for a job of the installation itself. */
  merchantId: string;
  /** Module and verb: `webhooks.deliver`. Stored jobs keep their kind: some are named after the module that had them before. */
  kind: string;
  /** With a key there is at most one waiting job of this merchant, kind and key. */
  uniqueKey?: string;
  /** Real time in Unix milliseconds. */
  dueAtMs: number;
  /** Whether the due time moves with the merchant's clock. */
  followsClock?: boolean;
  /** JSON values only. It replaces the payload of a job that exists already. */
  payload?: Record<string, unknown>;
  /** The trace that it continues, where one transaction does the work of several jobs; else the active one. */
  trace?: string | null | undefined;
}

interface Row {
  jobId: string;
  kind: string;
  uniqueKey: string;
  dueAtMs: number;
  followsClock: boolean;
  payload: Record<string, unknown>;
  trace: string | null;
}

/**
 * Adds jobs, one statement for each merchant, and notifies workers after the commit. A job that exists already becomes
 * due at the earlier of both times; if it is running it runs once more afterwards.
 *
 * @param cause `with …` that writes the cause of the jobs of one merchant in the same statement
 */
export async function enqueue(tx: Tx, specs: readonly JobSpec[], cause = NO_CAUSE): Promise<void> {
  // A fixed order of merchants and keys, so that two transactions with the same jobs wait instead of deadlocking.
  const merchants = [...Map.groupBy(specs, (spec) => spec.merchantId)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [merchantId, own] of merchants) await insert(tx, { merchantId, rows: mergeByKey(own), cause });
  notifyWorkers(
    tx,
    specs.map(({ merchantId, kind, dueAtMs }) => ({ merchantId, kind, dueAtMs: Math.ceil(dueAtMs) })),
  );
}

const NO_CAUSE: RawBuilder<unknown> = sql``;

interface Insertion {
  merchantId: string;
  rows: readonly Row[];
  cause: RawBuilder<unknown>;
}

async function insert(tx: Tx, { merchantId, rows, cause }: Insertion): Promise<void> {
  const specs = listed('s', rows, {
    unique_key: ['text', (row) => row.uniqueKey],
    job_id: ['uuid', (row) => row.jobId],
    kind: ['text', (row) => row.kind],
    due_at_ms: ['bigint', (row) => row.dueAtMs],
    follows_clock: ['boolean', (row) => row.followsClock],
    payload: ['text', (row) => JSON.stringify(row.payload)],
    trace: ['text', (row) => row.trace],
  });
  await deferred`
    ${cause}
    insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, follows_clock, payload, trace)
    select ${merchantId}::uuid, s.job_id, s.kind, s.unique_key, s.due_at_ms, s.follows_clock, s.payload::jsonb, s.trace
    from ${specs}
    on conflict (merchant_id, kind, unique_key) do update set
      due_at_ms = least(job.due_at_ms, excluded.due_at_ms),
      follows_clock = excluded.follows_clock,
      payload = excluded.payload,
      trace = excluded.trace,
      revision = job.revision + 1`.execute(tx);
}

/** One row a key: a statement may not touch the same row twice. */
function mergeByKey(specs: readonly JobSpec[]): Row[] {
  const rows = new Map<string, Row>();
  for (const spec of specs) {
    const row = toRow(spec);
    const key = JSON.stringify([row.kind, row.uniqueKey]);
    const dueAtMs = Math.min(row.dueAtMs, rows.get(key)?.dueAtMs ?? row.dueAtMs);
    rows.set(key, { ...row, dueAtMs });
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function toRow(spec: JobSpec): Row {
  const jobId = newId();
  return {
    jobId,
    kind: spec.kind,
    uniqueKey: spec.uniqueKey ?? jobId,
    dueAtMs: Math.ceil(spec.dueAtMs),
    followsClock: spec.followsClock ?? false,
    payload: spec.payload ?? {},
    trace: spec.trace === undefined ? activeTrace() : spec.trace,
  };
}
