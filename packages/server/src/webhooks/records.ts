import { setTimeout as sleep } from 'node:timers/promises';
import { isRetryable, isUnavailable } from '../platform/db.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { transact } from '../platform/transact.ts';
import { alignSome } from './align-deliveries.ts';
import type { WebhookDeps } from './deps.ts';
import { updateEndpoint } from './endpoint-queries.ts';
import { Gather } from './gather.ts';
import { alignJob } from './jobs.ts';
import {
  type AttemptRecord,
  changeHealth,
  type HealthChange,
  lockEndpoint,
  recordAttempts,
} from './queries.ts';
import { Room } from './room.ts';
import { type Health, isGivenUp } from './states.ts';
import './tables.ts';

const RECORDS_AT_ONCE = 200;
/** Statements of all merchants: more of them would carry fewer records each, and leave nobody else a connection. */
const STATEMENTS_AT_ONCE = 2;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 2_000;
/** After this the attempt is forgotten and will be made again: the database is gone for longer than leases last. */
const PATIENCE_MS = 300_000;

export interface EndedAttempt extends AttemptRecord {
  /** How it counts for the endpoint; `none`: a test, or an acknowledgement while nothing had failed. */
  health: 'none' | 'acknowledged' | 'failed';
  beganMs: number;
}

/** Writes attempts and the health of their endpoints, those of one merchant together. */
export class Records {
  readonly #deps: WebhookDeps;
  readonly #attempts: Gather<EndedAttempt, Health | undefined>;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    const record = async (merchantId: string, ended: EndedAttempt[]) => {
      await persist(() => recordAttempts(deps.db, merchantId, ended));
      return await this.#countHealth(merchantId, ended);
    };
    this.#attempts = new Gather(RECORDS_AT_ONCE, record, new Room(STATEMENTS_AT_ONCE));
  }

  /** @returns the endpoint's health, where this attempt changed it. Resolves when the attempt is on the disk. */
  async add(merchantId: string, attempt: EndedAttempt): Promise<Health | undefined> {
    return await this.#attempts.add(merchantId, attempt);
  }

  async #countHealth(merchantId: string, ended: readonly EndedAttempt[]): Promise<(Health | undefined)[]> {
    const changes = healthChanges(ended);
    if (changes.length === 0) return ended.map(() => undefined);
    const health = await persist(() => changeHealth(this.#deps.db, merchantId, changes));
    for (const { endpointId, failures } of changes) {
      if (failures > 0) await this.#giveUp(merchantId, endpointId, health.get(endpointId));
    }
    return ended.map((attempt) => (attempt.health === 'none' ? undefined : health.get(attempt.endpointId)));
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

/** What the attempts of each endpoint, in the order of their ends, do to its health. */
export function healthChanges(ended: readonly EndedAttempt[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { endpointId, health, beganMs } of ended) {
    if (health === 'none') continue;
    const fresh = { endpointId, acknowledged: false, failures: 0, failingSinceMs: null };
    const before = changes.get(endpointId) ?? fresh;
    const after =
      health === 'acknowledged'
        ? { ...fresh, acknowledged: true }
        : {
            ...before,
            failures: before.failures + 1,
            failingSinceMs: Math.min(before.failingSinceMs ?? beganMs, beganMs),
          };
    changes.set(endpointId, after);
  }
  return [...changes.values()];
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
