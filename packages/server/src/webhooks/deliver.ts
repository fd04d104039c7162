import { createSecretKey, randomUUID } from 'node:crypto';
import { TEST_EVENT_TYPE } from '@florin/contract/schemas';
import { BatchLoader } from '../platform/db/loaders/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { crashPoint, Semaphore } from '../platform/jobs/index.ts';
import { shortenSignature } from '../platform/secrets/index.ts';
import { getMerchant } from '../stores/index.ts';
import { macOf, readWebhookSecrets } from '../stores/keys/index.ts';
import { AttemptRecorder } from './attempt-recorder.ts';
import { DeliverySlots } from './delivery-slots.ts';
import type { WebhookDeps } from './deps.ts';
import { EndpointRun } from './endpoint-run.ts';
import type {
  AttemptHooks,
  AttemptResult,
  DueDelivery,
  EndpointWork,
  Sender,
  WorkRequest,
} from './endpoint-work.ts';
import { listPending } from './queries.ts';
import { headersOf, type Stamp } from './request-headers.ts';
import { answerInSandbox } from './sandbox-receiver.ts';
import { afterAttempt, type DeliveryOutcome, judgeAnswer } from './states.ts';
import type { StoredAttempt } from './tables.ts';

const ATTEMPT_DURATION = {
  name: 'florin_webhook_attempt_duration_seconds',
  help: 'Attempts to deliver a webhook, by what came of them.',
  labelNames: ['outcome'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
};
const ENDPOINTS_AT_ONCE = 500;
/** Concurrent reads over all merchants. */
const READS_AT_ONCE = 3;
/** An attempt without an answer counts as idle after the first, and as hanging after the second. */
const IDLE_AFTER_MS = 250;
const HANGS_AFTER_MS = 1_000;
/** An endpoint's next attempt waits this long for the answer to the one before: a fast receiver needs one connection. */
const NEXT_AFTER_MS = 5;

/** Sends deliveries: one run per endpoint; reads and writes of one merchant's runs are batched. */
export class Deliverer implements Sender {
  readonly deps: WebhookDeps;
  readonly #recorder: AttemptRecorder;
  readonly #reads: BatchLoader<WorkRequest, EndpointWork | undefined>;
  readonly #slots = new DeliverySlots();
  #isStopping = false;

  constructor(deps: WebhookDeps) {
    this.deps = deps;
    this.#recorder = new AttemptRecorder(deps);
    this.#reads = new BatchLoader({
      loadBatch: (merchantId, request) => readWork(deps, merchantId, request),
      maxBatch: ENDPOINTS_AT_ONCE,
      semaphore: new Semaphore(READS_AT_ONCE),
    });
  }

  /** Handles `DELIVER_JOB`. */
  async run(job: Job, run: JobRun): Promise<JobOutcome> {
    return await new EndpointRun(this, job, run).execute();
  }

  /** Starts no more attempts: runs end with those in flight. */
  stop(): void {
    this.#isStopping = true;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** @returns undefined where the endpoint does not exist */
  async read(merchantId: string, request: WorkRequest): Promise<EndpointWork | undefined> {
    return await this.#reads.load(merchantId, request);
  }

  /**
   * Makes one attempt: signs it, sends it and records the outcome.
   *
   * @returns the endpoint's failures since its last acknowledgement, and when the delivery is due again; undefined where
   *   the attempt was not started because the run is ending
   */
  async attempt(
    merchantId: string,
    work: EndpointWork,
    due: DueDelivery,
    hooks: AttemptHooks,
  ): Promise<AttemptResult | undefined> {
    const slot = await this.#slots.acquire(work, hooks.reusesConnection);
    try {
      const timers = [
        setTimeout(hooks.startNext, NEXT_AFTER_MS),
        setTimeout(() => slot.markIdle(), IDLE_AFTER_MS),
        setTimeout(() => slot.markHanging(), HANGS_AFTER_MS),
      ];
      const answered = () => {
        for (const timer of timers) clearTimeout(timer);
        hooks.startNext();
        slot.markAnswered();
      };
      const acknowledged = () => {
        slot.release();
        hooks.acknowledged();
      };
      if (hooks.mayBegin()) return await this.#make(merchantId, { work, due }, { answered, acknowledged });
      answered();
      return undefined;
    } finally {
      slot.release();
    }
  }

  async #make(
    merchantId: string,
    { work, due }: { work: EndpointWork; due: DueDelivery },
    { answered, acknowledged }: { answered: () => void; acknowledged: () => void },
  ): Promise<AttemptResult> {
    const { clock } = this.deps;
    const beganMs = clock.nowMs();
    const beganAt = Math.floor(beganMs / 1000) + work.clockOffset;
    crashPoint('deliver.before-send');
    const answer = await this.#send(work, due).finally(answered);
    crashPoint('deliver.after-send');
    const verdict = judgeAnswer(answer.outcome);
    this.#slots.recordResult(work.endpointId, verdict.failure === null);
    const durationMs = Math.max(0, Math.round(clock.nowMs() - beganMs));
    const outcome = verdict.failure ?? 'acknowledged';
    this.deps.metrics.observe(ATTEMPT_DURATION, durationMs / 1000, { outcome });
    const next = afterAttempt({ seriesAttempts: due.seriesAttempts, beganAt }, verdict);
    const isCounted = due.eventType !== TEST_EVENT_TYPE;
    const health = isCounted ? healthOf(verdict.failure, work.failures) : 'none';
    if (health === 'none' && verdict.failure === null) acknowledged();
    const after = await this.#recorder.record(merchantId, {
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
        sent: answer.sent,
      } satisfies StoredAttempt),
    });
    crashPoint('deliver.recorded');
    return { failures: after?.failures, dueAt: next.status === 'pending' ? next.dueAt : undefined };
  }

  async #send(
    work: EndpointWork,
    due: DueDelivery,
  ): Promise<{ outcome: DeliveryOutcome; response: string | null; sent: Stamp }> {
    const { body } = due;
    const timestamp = String(this.deps.clock.nowSeconds());
    // Node draws these from a pool of random bytes: drawn one by one they cost more than the signature.
    const nonce = randomUUID();
    if (work.secret === undefined) throw new Error('an attempt needs the signing secret of its store');
    const signature = macOf(work.secret, { timestamp, nonce, body }).toString('hex');
    const request = {
      url: work.url,
      sandbox: work.mode === 'sandbox',
      body,
      headers: headersOf(due, { timestamp, nonce, signature }),
    };
    const answer = answerInSandbox(request) ?? (await this.deps.outbound.post(request));
    const sent = { timestamp, nonce, signature: shortenSignature(signature) };
    if (answer.failure !== null) return { outcome: { failure: answer.failure }, response: null, sent };
    return { outcome: { status: answer.status }, response: textOf(answer.response), sent };
  }
}

/** An acknowledgement is written to the endpoint only where it resets a count of failures. */
function healthOf(failure: string | null, failures: number): 'none' | 'acknowledged' | 'failed' {
  if (failure !== null) return 'failed';
  return failures > 0 ? 'acknowledged' : 'none';
}

const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** PostgreSQL's text holds no NUL. */
function textOf(bytes: Uint8Array): string {
  return UTF_8.decode(bytes).replaceAll('\0', '\ufffd');
}

async function readWork(
  deps: WebhookDeps,
  merchantId: string,
  request: readonly WorkRequest[],
): Promise<(EndpointWork | undefined)[]> {
  const storeIds = [...new Set(request.map(({ storeId }) => storeId))];
  const [{ due: rows, bodies }, merchant, secrets] = await Promise.all([
    listPending(deps.db, merchantId, request),
    getMerchant(deps.db, merchantId),
    readWebhookSecrets(deps, merchantId, storeIds),
  ]);
  // One key object per store: to make one costs ten times as much as a signature with it.
  const keys = new Map([...secrets].map(([storeId, secret]) => [storeId, createSecretKey(secret)]));
  const bytes = new Map([...bodies].map(([eventId, body]) => [eventId, Buffer.from(body)]));
  const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
  return request.map(({ endpointId, storeId }) => {
    const own = byEndpoint.get(endpointId);
    const [endpoint] = own ?? [];
    if (own === undefined || endpoint === undefined) return undefined;
    const due = own.flatMap((row): DueDelivery[] => {
      const body = row.event_id === null ? undefined : bytes.get(row.event_id);
      // Its event may have passed its retention a moment before it: that must not keep the others waiting.
      if (row.event_id === null || body === undefined) return [];
      return [
        {
          eventId: row.event_id,
          eventType: row.event_type,
          seriesAttempts: row.series_attempts,
          dueAt: Number(row.due_at),
          body,
        },
      ];
    });
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
