import { setTimeout as sleep } from 'node:timers/promises';
import { BatchLoader, isRetryable, isUnavailable, transact } from '../platform/db/index.ts';
import { enqueue, Semaphore } from '../platform/jobs/index.ts';
import { alignSome } from './align-deliveries.ts';
import type { WebhookDeps } from './deps.ts';
import { updateEndpoint } from './endpoint-queries.ts';
import { alignJob } from './jobs.ts';
import { type CountedRecord, lockEndpoint, recordAttempts, recordCounted } from './queries.ts';
import { type Health, isGivenUp } from './states.ts';
import { tellDisabled } from './tell-disabled.ts';
import './tables.ts';

const RECORDS_AT_ONCE = 200;
/** Statements of all merchants: more of them would carry fewer records each, and leave nobody else a connection. */
const STATEMENTS_AT_ONCE = 2;
/** A statement costs as much as twenty records in it, so those of one merchant wait for each other this long. */
const RECORD_EVERY_MS = 50;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 2_000;
/** After this the attempt is forgotten and will be made again: the database is gone for longer than leases last. */
const PATIENCE_MS = 300_000;

/** Writes attempts and the health of their endpoints, those of one merchant together. */
export class Records {
  readonly #deps: WebhookDeps;
  readonly #attempts: BatchLoader<CountedRecord, Health | undefined>;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#attempts = new BatchLoader({
      loadBatch: (merchantId, records) => this.#write(merchantId, records),
      maxBatch: RECORDS_AT_ONCE,
      semaphore: new Semaphore(STATEMENTS_AT_ONCE),
      intervalMs: RECORD_EVERY_MS,
    });
  }

  /** @returns the endpoint's health, where this attempt changed it. Resolves when the attempt is on the disk. */
  async add(merchantId: string, attempt: CountedRecord): Promise<Health | undefined> {
    return await this.#attempts.load(merchantId, attempt);
  }

  async #write(merchantId: string, records: readonly CountedRecord[]): Promise<(Health | undefined)[]> {
    const { db } = this.#deps;
    if (records.every(({ health }) => health === 'none')) {
      await persist(() => recordAttempts(db, merchantId, records));
      return records.map(() => undefined);
    }
    const health = await persist(() => recordCounted(db, merchantId, records));
    const failed = records.filter((record) => record.health === 'failed');
    for (const endpointId of new Set(failed.map(({ endpointId }) => endpointId)))
      await this.#giveUp(merchantId, endpointId, health.get(endpointId));
    return records.map((record) => (record.health === 'none' ? undefined : health.get(record.endpointId)));
  }

  /** Disables an endpoint of which nothing has come back for days. Its deliveries wait until it is enabled again. */
  async #giveUp(merchantId: string, endpointId: string, health: Health | undefined): Promise<void> {
    const { db, clock, log, disableAfterSeconds: afterSeconds } = this.#deps;
    const limits = { nowMs: clock.nowMs(), afterSeconds };
    if (health === undefined || !isGivenUp(health, limits)) return;
    const url = await persist(() =>
      transact(db, async (tx) => {
        const endpoint = await lockEndpoint(tx, merchantId, endpointId);
        if (endpoint === undefined || endpoint.status === 'disabled') return undefined;
        const change = { status: 'disabled', disabled_reason: 'failing' } as const;
        const disabled = await updateEndpoint(tx, endpoint, change);
        await tellDisabled(tx, { before: endpoint, after: disabled }, clock.nowMs());
        const storeId = endpoint.store_id;
        if (await alignSome(tx, disabled, 0))
          await enqueue(tx, [alignJob({ merchantId, storeId, endpointId }, clock.nowMs())]);
        return endpoint.url;
      }),
    );
    if (url === undefined) return;
    const notice =
      'a webhook endpoint was disabled: all its attempts have failed for days; its owner must know';
    log.warn({ merchantId, endpointId, url, failures: health.failures }, notice);
  }
}

/** An attempt that was made must not be made again because the database was away as it ended. */
async function persist<T>(write: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
    try {
      return await write();
    } catch (error) {
      const isPassing = isUnavailable(error) || isRetryable(error);
      if (!isPassing || performance.now() - startedMs > PATIENCE_MS) throw error;
      await sleep(waitMs);
    }
  }
}
