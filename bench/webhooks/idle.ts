import { setTimeout as sleep } from 'node:timers/promises';
import { type App, openApp } from '../../packages/server/src/app.ts';
import { recordEvent } from '../../packages/server/src/events/index.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { type BenchServer, execute } from '../database.ts';
import { machineMs } from '../queue/queues.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, percentile, short } from '../statistics.ts';
import { furnish, idAt, type Premises } from './premises.ts';

const GAP_MIN_MS = 20;
const GAP_MAX_MS = 40;
const SETTLE_MS = 1_000;

/** Row 11, and the same beside retries that are not due for long. */
export async function runIdle(server: BenchServer, options: RunOptions): Promise<Findings> {
  const premises = await furnish(server, 1, options);
  const app = await openApp({
    databaseUrl: premises.url,
    masterKey: premises.masterKey,
    log: createLogger('silent'),
    poolSize: 2,
  });
  const sender = await premises.startSender();
  const events = options.quick ? 60 : 200;
  const retries = options.quick ? 50_000 : 1_000_000;
  try {
    const source = await Source.open(app, premises);
    await source.measure(events);
    const p50: number[] = [];
    const p99: number[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const delaysMs = await source.measure(events);
      p50.push(percentile(delaysMs, 0.5));
      p99.push(percentile(delaysMs, 0.99));
      options.log(`  round ${round + 1}/${options.rounds} p50 ${short(p50.at(-1) ?? 0)} ms`);
    }
    await queueRetries(premises.url, retries);
    const beside = await source.measure(events);
    const remark =
      `Commit to first byte, idle: p50 ${short(median(p50))} ms, p99 ${short(median(p99))} ms; with ` +
      `${retries.toLocaleString('en-US')} retries queued p50 ${short(percentile(beside, 0.5))} ms, ` +
      `p99 ${short(percentile(beside, 0.99))} ms.`;
    return { results: [{ row: '11', values: p50 }], remarks: [remark] };
  } finally {
    await sender.stop();
    await app.close();
    await premises.close();
  }
}

/** A store whose changes come one at a time. */
class Source {
  readonly #app: App;
  readonly #premises: Premises;
  readonly #owner: { merchantId: string; storeId: string };

  private constructor(app: App, premises: Premises, owner: { merchantId: string; storeId: string }) {
    this.#app = app;
    this.#premises = premises;
    this.#owner = owner;
  }

  static async open(app: App, premises: Premises): Promise<Source> {
    const [found] = await execute(premises.url, 'select merchant_id, store_id from webhook_endpoint');
    const { merchant_id: merchantId, store_id: storeId } = found?.rows[0] ?? {};
    return new Source(app, premises, { merchantId, storeId });
  }

  /** Milliseconds from each commit to the first byte of its webhook. */
  async measure(events: number): Promise<number[]> {
    const { receiver } = this.#premises;
    await sleep(SETTLE_MS);
    receiver.send('tell');
    await receiver.next();
    const delaysMs: number[] = [];
    for (let i = 0; i < events; i++) {
      const { eventId, committedMs } = await this.#change();
      const { event, atMs } = await receiver.next<{ event: string; atMs: number }>();
      if (event !== eventId) throw new Error(`${event} came instead of ${eventId}`);
      delaysMs.push(atMs - committedMs);
      await sleep(GAP_MIN_MS + Math.random() * (GAP_MAX_MS - GAP_MIN_MS));
    }
    return delaysMs;
  }

  async #change(): Promise<{ eventId: string; committedMs: number }> {
    const nowMs = this.#app.clock.nowMs();
    const change = {
      ...this.#owner,
      livemode: false,
      type: 'payout_batch.updated' as const,
      resource: `bench_${newId()}`,
      before: null,
      after: { status: 'draft', note: 'x'.repeat(700) },
      nowSeconds: Math.floor(nowMs / 1000),
      nowMs,
    };
    const id = await transact(this.#app.db, (tx) => recordEvent(tx, change));
    const committedMs = machineMs();
    if (id === undefined) throw new Error('no news of a change');
    return { eventId: encodeId('event', id), committedMs };
  }
}

/** Deliveries to the same endpoint that failed once; none is due before tomorrow. */
async function queueRetries(url: string, count: number): Promise<void> {
  await execute(
    url,
    `insert into delivery (merchant_id, event_id, endpoint_id, delivery_id, store_id, event_type, number, status,
                           series_attempts, due_at, attempts, event_created_at, created_at)
     select merchant_id, ${idAt('extract(epoch from now()) * 1000')}, endpoint_id, gen_random_uuid(), store_id,
            'payout_batch.updated', i, 'pending', 1, extract(epoch from now())::bigint + 86400 + i % 3600, '[]', 0, 0
     from webhook_endpoint, generate_series(1, ${count}) i`,
    'vacuum analyze delivery',
  );
}
