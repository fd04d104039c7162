import { randomBytes } from 'node:crypto';
import type { RecordedEventType } from '@florin/contract/schemas';
import { TEST_EVENT_TYPE } from '@florin/contract/schemas';
import {
  EVENT_ID_HEADER,
  EVENT_TYPE_HEADER,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';
import { crashPoint } from '../platform/crash-point.ts';
import { encodeId } from '../platform/ids.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import type { MerchantMode } from '../platform/settings.ts';
import { getMerchant, macOf, readWebhookSecrets } from '../stores/index.ts';
import type { WebhookDeps } from './deps.ts';
import { EndpointRun } from './endpoint-run.ts';
import { Gather } from './gather.ts';
import { listPending } from './queries.ts';
import { Records } from './records.ts';
import { type AttemptOutcome, afterAttempt, judge } from './states.ts';

const USER_AGENT = 'Service-Webhook/1.0';
const NONCE_BYTES = 16;
const ENDPOINTS_AT_ONCE = 500;
/** Attempts in flight of this process; endpoints that fail share half of them, so that others always find room. */
const IN_FLIGHT_MAX = 2_000;

/** One event that is due to be sent. */
export interface DueDelivery {
  eventId: string;
  eventType: RecordedEventType;
  seriesAttempts: number;
  /** The merchant's clock, Unix seconds. */
  dueAt: number;
  body: string;
}

/** What a run must know of its endpoint, as it was a moment ago. */
export interface EndpointWork {
  endpointId: string;
  url: string;
  isEnabled: boolean;
  failures: number;
  mode: MerchantMode;
  /** Seconds that the merchant's clock is ahead. */
  clockOffset: number;
  /** Undefined: the store has no key, so nothing can be signed. */
  secret: Buffer | undefined;
  firstTries: DueDelivery[];
  /** By due time; those to come included. */
  retries: DueDelivery[];
}

interface Asked {
  endpointId: string;
  storeId: string;
  limit: number;
}

/** Sends deliveries: one run an endpoint, what they read and write gathered by merchant. */
export class Deliverer {
  readonly deps: WebhookDeps;
  readonly #records: Records;
  readonly #reads: Gather<Asked, EndpointWork | undefined>;
  readonly #room = { all: new Room(IN_FLIGHT_MAX), failing: new Room(IN_FLIGHT_MAX / 2) };
  #isStopping = false;

  constructor(deps: WebhookDeps) {
    this.deps = deps;
    this.#records = new Records(deps);
    this.#reads = new Gather(ENDPOINTS_AT_ONCE, (merchantId, asked) => readWork(deps, merchantId, asked));
  }

  /** Handles a job of `DELIVER_JOB`. */
  async run(job: Job, run: JobRun): Promise<JobOutcome> {
    return await new EndpointRun(this, job, run).drive();
  }

  /** Begins no more attempts: runs end with those in flight. */
  stop(): void {
    this.#isStopping = true;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Undefined: there is no such endpoint. */
  async read(merchantId: string, asked: Asked): Promise<EndpointWork | undefined> {
    return await this.#reads.add(merchantId, asked);
  }

  /**
   * One attempt, from its signature to its record.
   *
   * @returns the endpoint's failures since its last acknowledgement, and when the delivery is due again
   */
  async attempt(merchantId: string, work: EndpointWork, due: DueDelivery): Promise<Attempted> {
    const leave = await this.#enter(work.failures > 0);
    try {
      const { clock } = this.deps;
      const beganMs = clock.nowMs();
      const beganAt = Math.floor(beganMs / 1000) + work.clockOffset;
      crashPoint('deliver.before-send');
      const answer = await this.#send(work, due);
      crashPoint('deliver.after-send');
      const verdict = judge(answer.outcome);
      const durationMs = Math.max(0, Math.round(clock.nowMs() - beganMs));
      this.deps.metrics.attemptedWebhook(verdict.failure ?? 'acknowledged', durationMs / 1000);
      const next = afterAttempt({ seriesAttempts: due.seriesAttempts, beganAt }, verdict);
      const isCounted = due.eventType !== TEST_EVENT_TYPE;
      const health = await this.#records.add(merchantId, {
        endpointId: work.endpointId,
        eventId: due.eventId,
        seriesBefore: due.seriesAttempts,
        next,
        beganMs,
        health: isCounted ? healthOf(verdict.failure, work.failures) : 'none',
        attempt: JSON.stringify({
          at: beganAt,
          status_code: 'status' in answer.outcome ? answer.outcome.status : null,
          duration_ms: durationMs,
          failure: verdict.failure,
          response: answer.response,
        }),
      });
      crashPoint('deliver.recorded');
      return { failures: health?.failures, dueAt: next.status === 'pending' ? next.dueAt : undefined };
    } finally {
      leave();
    }
  }

  async #enter(isFailing: boolean): Promise<() => void> {
    const rooms = isFailing ? [this.#room.failing, this.#room.all] : [this.#room.all];
    for (const room of rooms) await room.enter();
    return () => {
      for (const room of rooms) room.leave();
    };
  }

  async #send(
    work: EndpointWork,
    due: DueDelivery,
  ): Promise<{ outcome: AttemptOutcome; response: string | null }> {
    const body = Buffer.from(due.body);
    const timestamp = String(this.deps.clock.nowSeconds());
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const secret = work.secret ?? Buffer.alloc(0);
    const answer = await this.deps.outbound.post({
      url: work.url,
      sandbox: work.mode === 'sandbox',
      body,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': USER_AGENT,
        [SIGNATURE_HEADER]: macOf(secret, { timestamp, nonce, body }).toString('hex'),
        [TIMESTAMP_HEADER]: timestamp,
        [NONCE_HEADER]: nonce,
        [EVENT_TYPE_HEADER]: due.eventType,
        [EVENT_ID_HEADER]: encodeId('event', due.eventId),
      },
    });
    if (answer.failure !== null) return { outcome: { failure: answer.failure }, response: null };
    return { outcome: { status: answer.status }, response: textOf(answer.response) };
  }
}

export interface Attempted {
  failures: number | undefined;
  dueAt: number | undefined;
}

/** An acknowledgement is written only where it ends a row of failures. */
function healthOf(failure: string | null, failures: number): 'none' | 'acknowledged' | 'failed' {
  if (failure !== null) return 'failed';
  return failures > 0 ? 'acknowledged' : 'none';
}

/** Whatever came, as text that the database can hold. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\0', '\ufffd');
}

async function readWork(
  deps: WebhookDeps,
  merchantId: string,
  asked: readonly Asked[],
): Promise<(EndpointWork | undefined)[]> {
  const storeIds = [...new Set(asked.map(({ storeId }) => storeId))];
  const [rows, merchant, secrets] = await Promise.all([
    listPending(deps.db, merchantId, asked),
    getMerchant(deps.db, merchantId),
    readWebhookSecrets(deps, merchantId, storeIds),
  ]);
  const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
  return asked.map(({ endpointId, storeId }) => {
    const own = byEndpoint.get(endpointId);
    const [endpoint] = own ?? [];
    if (own === undefined || endpoint === undefined) return undefined;
    const due = own.flatMap((row): DueDelivery[] =>
      row.event_id === null
        ? []
        : [
            {
              eventId: row.event_id,
              eventType: row.event_type,
              seriesAttempts: row.series_attempts,
              dueAt: Number(row.due_at),
              body: row.body,
            },
          ],
    );
    return {
      endpointId,
      url: endpoint.url,
      isEnabled: endpoint.status === 'enabled',
      failures: endpoint.failures,
      mode: merchant.mode,
      clockOffset: merchant.clockOffset,
      secret: secrets.get(storeId),
      firstTries: due.filter(({ seriesAttempts }) => seriesAttempts === 0),
      retries: due.filter(({ seriesAttempts }) => seriesAttempts > 0),
    };
  });
}

/** Lets so many in at a time, in the order in which they came. */
class Room {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
