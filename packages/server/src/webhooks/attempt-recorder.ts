import { setTimeout as sleep } from 'node:timers/promises';
import { isRetryable, isUnavailable, transact } from '../platform/db/index.ts';
import { BatchLoader } from '../platform/db/loaders/index.ts';
import { enqueue, Semaphore } from '../platform/jobs/index.ts';
import { alignBatch } from './align-deliveries.ts';
import type { WebhookDeps } from './deps.ts';
import { emitEndpointDisabled } from './emit-endpoint-disabled.ts';
import { updateEndpoint } from './endpoint-queries.ts';
import { alignJob } from './jobs.ts';
import { mailEndpoint } from './mail-endpoint.ts';
import { type CountedRecord, lockEndpoint, recordAttempts, recordCounted } from './queries.ts';
import { type Health, isWarned, shouldDisable } from './states.ts';
import './tables.ts';

const RECORDS_AT_ONCE = 200;
/** Concurrent statements over all merchants: more would carry fewer records each and take the pool's connections. */
const STATEMENTS_AT_ONCE = 2;
/** A statement costs as much as twenty of its records, so records of one merchant wait this long for each other. */
const RECORD_EVERY_MS = 50;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 2_000;
/** After this the attempt is dropped and will be made again: the database is away for longer than a lease lasts. */
const GIVE_UP_AFTER_MS = 300_000;

/** Records attempts and the failure counts of their endpoints; records of one merchant share a statement. */
export class AttemptRecorder {
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

  /** Resolves once the attempt is committed. @returns the endpoint's health where this attempt changed it */
  async record(merchantId: string, attempt: CountedRecord): Promise<Health | undefined> {
    return await this.#attempts.load(merchantId, attempt);
  }

  async #write(merchantId: string, records: readonly CountedRecord[]): Promise<(Health | undefined)[]> {
    const { db } = this.#deps;
    if (records.every(({ health }) => health === 'none')) {
      await retryWhileUnavailable(() => recordAttempts(db, merchantId, records));
      return records.map(() => undefined);
    }
    const health = await retryWhileUnavailable(() => recordCounted(db, merchantId, records));
    const failed = records.filter((record) => record.health === 'failed');
    for (const [endpointId, { length }] of Map.groupBy(failed, (one) => one.endpointId)) {
      await this.#warnOfFailing({ merchantId, endpointId }, health.get(endpointId), length);
      await this.#disableFailing(merchantId, endpointId, health.get(endpointId));
    }
    return records.map((record) => (record.health === 'none' ? undefined : health.get(record.endpointId)));
  }

  /** Mails the merchant once for each stretch of failures, at the third. */
  async #warnOfFailing(
    { merchantId, endpointId }: { merchantId: string; endpointId: string },
    health: Health | undefined,
    newFailures: number,
  ): Promise<void> {
    const { db, clock } = this.#deps;
    if (health === undefined || !isWarned(health, newFailures)) return;
    await retryWhileUnavailable(() =>
      transact(db, async (tx) => {
        const endpoint = await lockEndpoint(tx, merchantId, endpointId);
        if (endpoint === undefined || endpoint.status === 'disabled') return;
        await mailEndpoint(tx, endpoint, { kind: 'endpoint_failing', health }, clock);
      }),
    );
  }

  /** Disables an endpoint that has failed for days. Its deliveries are paused until it is enabled again. */
  async #disableFailing(merchantId: string, endpointId: string, health: Health | undefined): Promise<void> {
    const { db, clock, log, disableAfterSeconds: afterSeconds } = this.#deps;
    const limits = { nowMs: clock.nowMs(), afterSeconds };
    if (health === undefined || !shouldDisable(health, limits)) return;
    const url = await retryWhileUnavailable(() =>
      transact(db, async (tx) => {
        const endpoint = await lockEndpoint(tx, merchantId, endpointId);
        if (endpoint === undefined || endpoint.status === 'disabled') return undefined;
        const change = { status: 'disabled', disabled_reason: 'failing' } as const;
        const disabled = await updateEndpoint(tx, endpoint, change);
        await emitEndpointDisabled(tx, { before: endpoint, after: disabled }, clock.nowMs());
        await mailEndpoint(tx, disabled, { kind: 'endpoint_disabled', health }, clock);
        const storeId = endpoint.store_id;
        if (await alignBatch(tx, disabled, 0))
          await enqueue(tx, [alignJob({ merchantId, storeId, endpointId }, clock.nowMs())]);
        return endpoint.url;
      }),
    );
    if (url === undefined) return;
    const notice = 'a webhook endpoint was disabled: all its attempts have failed for days; inform its owner';
    log.warn({ merchantId, endpointId, url, failures: health.failures }, notice);
  }
}

/** Retries, so that an attempt is not made again because the database was away when it ended. */
async function retryWhileUnavailable<T>(write: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
    try {
      return await write();
    } catch (error) {
      const isPassing = isUnavailable(error) || isRetryable(error);
      if (!isPassing || performance.now() - startedMs > GIVE_UP_AFTER_MS) throw error;
      await sleep(waitMs);
    }
  }
}
