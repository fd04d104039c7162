import { createSecretKey, randomUUID } from 'node:crypto';
import { TEST_EVENT_TYPE } from '@florin/contract/schemas';
import {
  EVENT_ID_HEADER,
  EVENT_TYPE_HEADER,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';
import { BatchLoader } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { crashPoint, Semaphore } from '../platform/jobs/index.ts';
import { getMerchant, macOf, readWebhookSecrets } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import type { WebhookDeps } from './deps.ts';
import { EndpointRun } from './endpoint-run.ts';
import type { Asked, Attempted, DueDelivery, EndpointWork, Sender, Turn } from './endpoint-work.ts';
import { Places } from './places.ts';
import { listPending } from './queries.ts';
import { Records } from './records.ts';
import { type AttemptOutcome, afterAttempt, judge } from './states.ts';

const USER_AGENT = 'Service-Webhook/1.0';
const ENDPOINTS_AT_ONCE = 500;
/** Readings of all merchants under way. */
const READS_AT_ONCE = 3;
/** After which an attempt only waits for its answer; and after which it is taken for one that hangs. */
const WAITS_MS = 250;
const HANGS_MS = 1_000;
/** For how long an endpoint's attempt holds up its next one: a fast receiver is asked over one connection. */
const AHEAD_MS = 5;

/** Sends deliveries: one run an endpoint, what they read and write gathered by merchant. */
export class Deliverer implements Sender {
  readonly deps: WebhookDeps;
  readonly #records: Records;
  readonly #reads: BatchLoader<Asked, EndpointWork | undefined>;
  readonly #places = new Places();
  #isStopping = false;

  constructor(deps: WebhookDeps) {
    this.deps = deps;
    this.#records = new Records(deps);
    this.#reads = new BatchLoader({
      loadBatch: (merchantId, asked) => readWork(deps, merchantId, asked),
      maxBatch: ENDPOINTS_AT_ONCE,
      semaphore: new Semaphore(READS_AT_ONCE),
    });
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
    return await this.#reads.load(merchantId, asked);
  }

  /**
   * One attempt, from its signature to its record.
   *
   * @returns the endpoint's failures since its last acknowledgement, and when the delivery is due again; undefined where
   *   it was not begun any more
   */
  async attempt(
    merchantId: string,
    work: EndpointWork,
    due: DueDelivery,
    turn: Turn,
  ): Promise<Attempted | undefined> {
    const place = await this.#places.enter(work, turn.isInRow);
    try {
      const timers = [
        setTimeout(turn.follow, AHEAD_MS),
        setTimeout(() => place.wait(), WAITS_MS),
        setTimeout(() => place.hang(), HANGS_MS),
      ];
      const answered = () => {
        for (const timer of timers) clearTimeout(timer);
        turn.follow();
        place.answered();
      };
      const acknowledged = () => {
        place.leave();
        turn.acknowledged();
      };
      if (turn.mayBegin()) return await this.#make(merchantId, { work, due }, { answered, acknowledged });
      answered();
      return undefined;
    } finally {
      place.leave();
    }
  }

  async #make(
    merchantId: string,
    { work, due }: { work: EndpointWork; due: DueDelivery },
    { answered, acknowledged }: { answered: () => void; acknowledged: () => void },
  ): Promise<Attempted> {
    const { clock } = this.deps;
    const beganMs = clock.nowMs();
    const beganAt = Math.floor(beganMs / 1000) + work.clockOffset;
    crashPoint('deliver.before-send');
    const answer = await this.#send(work, due).finally(answered);
    crashPoint('deliver.after-send');
    const verdict = judge(answer.outcome);
    this.#places.ended(work.endpointId, verdict.failure === null);
    const durationMs = Math.max(0, Math.round(clock.nowMs() - beganMs));
    this.deps.metrics.attemptedWebhook(verdict.failure ?? 'acknowledged', durationMs / 1000);
    const next = afterAttempt({ seriesAttempts: due.seriesAttempts, beganAt }, verdict);
    const isCounted = due.eventType !== TEST_EVENT_TYPE;
    const health = isCounted ? healthOf(verdict.failure, work.failures) : 'none';
    if (health === 'none' && verdict.failure === null) acknowledged();
    const after = await this.#records.add(merchantId, {
      endpointId: work.endpointId,
      eventId: due.eventId,
      seriesBefore: due.seriesAttempts,
      next,
      beganMs,
      health,
      attempt: JSON.stringify({
        at: beganAt,
        status_code: 'status' in answer.outcome ? answer.outcome.status : null,
        duration_ms: durationMs,
        failure: verdict.failure,
        response: answer.response,
      }),
    });
    crashPoint('deliver.recorded');
    return { failures: after?.failures, dueAt: next.status === 'pending' ? next.dueAt : undefined };
  }

  async #send(
    work: EndpointWork,
    due: DueDelivery,
  ): Promise<{ outcome: AttemptOutcome; response: string | null }> {
    const { body } = due;
    const timestamp = String(this.deps.clock.nowSeconds());
    // Made from random bytes in store: one by one they cost more than the signature.
    const nonce = randomUUID();
    if (work.secret === undefined) throw new Error('a run without a secret sends nothing');
    const answer = await this.deps.outbound.post({
      url: work.url,
      sandbox: work.mode === 'sandbox',
      body,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': USER_AGENT,
        [SIGNATURE_HEADER]: macOf(work.secret, { timestamp, nonce, body }).toString('hex'),
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

/** An acknowledgement is written only where it ends a row of failures. */
function healthOf(failure: string | null, failures: number): 'none' | 'acknowledged' | 'failed' {
  if (failure !== null) return 'failed';
  return failures > 0 ? 'acknowledged' : 'none';
}

const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Whatever came, as text that the database can hold. */
function textOf(bytes: Uint8Array): string {
  return UTF_8.decode(bytes).replaceAll('\0', '\ufffd');
}

async function readWork(
  deps: WebhookDeps,
  merchantId: string,
  asked: readonly Asked[],
): Promise<(EndpointWork | undefined)[]> {
  const storeIds = [...new Set(asked.map(({ storeId }) => storeId))];
  const [{ due: rows, bodies }, merchant, secrets] = await Promise.all([
    listPending(deps.db, merchantId, asked),
    getMerchant(deps.db, merchantId),
    readWebhookSecrets(deps, merchantId, storeIds),
  ]);
  // A key is made from a secret at ten times the cost of a signature by it.
  const keys = new Map([...secrets].map(([storeId, secret]) => [storeId, createSecretKey(secret)]));
  const bytes = new Map<string, Buffer>();
  const bytesOf = (eventId: string) => {
    const known = bytes.get(eventId);
    if (known !== undefined) return known;
    const made = Buffer.from(bodies.get(eventId) ?? '');
    bytes.set(eventId, made);
    return made;
  };
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
              body: bytesOf(row.event_id),
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
      secret: keys.get(storeId),
      firstTries: due.filter(({ seriesAttempts }) => seriesAttempts === 0),
      retries: due.filter(({ seriesAttempts }) => seriesAttempts > 0),
    };
  });
}
