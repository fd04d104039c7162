import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../child.ts';
import { execute } from '../database.ts';
import { cpuSeconds } from '../procfs.ts';
import type { RunOptions } from '../rows.ts';
import { idAt, type Premises } from './premises.ts';

const BODY_BYTES = 1_000;
const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 5;

export interface Load {
  /** About so many, the same number of events for each endpoint. */
  deliveries: number;
  /** Which endpoints get them, in SQL (all). */
  where?: string;
  /** Others that have been sent as many a moment before, in SQL. */
  hanging?: string;
}

const HANGING_FIRST_MS = 500;

/** Events that are published already, and the jobs that send them to each endpoint. */
async function fill(url: string, { deliveries, where = 'true' }: Load): Promise<number> {
  const [found] = await execute(url, `select count(*)::int as n from webhook_endpoint where ${where}`);
  const events = Math.ceil(deliveries / (found?.rows[0]?.n ?? 1));
  await execute(
    url,
    `with new as materialized (
       select s.merchant_id, s.store_id, i, ${idAt('extract(epoch from now()) * 1000')} as event_id
       from (select distinct merchant_id, store_id from webhook_endpoint where ${where}) s, generate_series(1, ${events}) i
     ), events as (
       insert into event (merchant_id, event_id, store_id, type, resource, sequence, number, body, created_at, recorded_at_ms)
       select merchant_id, event_id, store_id, 'payout_batch.updated', 'bench_' || event_id, 1, i,
              '{"id":"' || event_id || '","data":"' || repeat('x', ${BODY_BYTES - 60}) || '"}', 0,
              extract(epoch from now()) * 1000 from new
     )
     insert into delivery (merchant_id, event_id, endpoint_id, delivery_id, store_id, event_type, number, status,
                           due_at, event_created_at, created_at)
     select merchant_id, event_id, endpoint_id, gen_random_uuid(), store_id, 'payout_batch.updated', i, 'pending', 0, 0, 0
     from new join webhook_endpoint using (merchant_id, store_id) where ${where}`,
    'vacuum analyze event',
    'vacuum analyze delivery',
  );
  return events * (found?.rows[0]?.n ?? 0);
}

/** What a publisher does after it has made deliveries. */
async function callSender(url: string, where = 'true'): Promise<void> {
  await execute(
    url,
    `insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, payload, follows_clock)
     select merchant_id, gen_random_uuid(), 'webhooks.deliver', endpoint_id::text, 0,
            jsonb_build_object('endpointId', endpoint_id, 'storeId', store_id), true
     from webhook_endpoint where ${where}
     on conflict do nothing`,
    "select pg_notify('florin_job', merchant_id::text) from (select distinct merchant_id from webhook_endpoint) as m",
  );
}

/** Takes away what was sent today: the days before stay. */
async function clear(url: string): Promise<void> {
  const [found] = await execute(
    url,
    `select string_agg(c.oid::regclass::text, ', ') as names from pg_class c join pg_inherits i on i.inhrelid = c.oid
     where i.inhparent in ('event'::regclass, 'delivery'::regclass)
       and c.relname ~ '_p[0-9]{8}$' and right(c.relname, 8) >= to_char(now() at time zone 'UTC', 'YYYYMMDD')`,
  );
  await execute(url, `truncate ${found?.rows[0]?.names}`, 'checkpoint');
}

export interface Rate {
  perSecond: number;
  /** CPU of the sending process per delivery. */
  cpuMicros: number;
}

/** How fast a worker sends what is there, all of it recorded. */
export async function measureSender({ url, receiver }: Premises, sender: Child, load: Load): Promise<Rate> {
  await clear(url);
  if (load.hanging !== undefined) await fill(url, { ...load, where: load.hanging });
  const deliveries = await fill(url, load);
  receiver.send(`await ${deliveries}`);
  await receiver.next();
  if (load.hanging !== undefined) {
    await callSender(url, load.hanging);
    await sleep(HANGING_FIRST_MS);
  }
  const cpuBefore = cpuSeconds(sender.pid);
  await callSender(url, load.where);
  const { firstMs } = await receiver.next<{ firstMs: number }>();
  const endMs = await untilRecorded(url, load.where ?? 'true');
  const cpuMicros = ((cpuSeconds(sender.pid) - cpuBefore) * 1e6) / deliveries;
  return { perSecond: (deliveries * 1000) / (endMs - firstMs), cpuMicros };
}

async function untilRecorded(url: string, where: string): Promise<number> {
  const sql = `select from delivery join webhook_endpoint using (merchant_id, endpoint_id)
               where delivery.status = 'pending' and ${where} limit 1`;
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(LOOK_EVERY_MS)) {
    const [found] = await execute(url, sql);
    if (found?.rowCount === 0) return performance.timeOrigin + performance.now();
  }
  throw new Error('not all webhooks were recorded');
}

/** The same client without a database. */
export function startBare({ ca, urls }: Premises, { profileDir }: RunOptions): Child {
  return startChild('webhooks/bare.ts', { argument: { ca, urls, bytes: BODY_BYTES }, profileDir });
}

export async function measureBare({ receiver }: Premises, bare: Child, requests: number): Promise<Rate> {
  receiver.send(`await 0`);
  await receiver.next();
  bare.send(String(requests));
  return await bare.next<Rate>();
}
