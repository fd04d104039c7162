import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { alignBatch } from './align-deliveries.ts';
import { DueQueue } from './due-queue.ts';
import type { DueDelivery, EndpointWork, Sender } from './endpoint-work.ts';
import { lockEndpoint } from './queries.ts';
import { maxInFlight } from './states.ts';

const IN_FLIGHT_MAX = 10;
/** Acknowledged attempts that are not recorded yet. After a crash at most this many are sent again. */
const UNRECORDED_MAX = 20;
/** Rows read ahead, of first tries and of retries each; fewer for an endpoint that gets one attempt at a time. */
const READ_AHEAD = 50;
const READ_AHEAD_FAILING = 10;
/** Consecutive attempts with priority over other endpoints, as their connection is still open. */
const IN_ROW_MAX = 10;
const NO_KEY_AGAIN_MS = 60_000;

/** An attempt from its start until it is recorded. */
interface Attempt {
  isRetry: boolean;
  /** The endpoint has acknowledged it, and its failure count does not change: its slot is free while it is recorded. */
  isAcknowledged: boolean;
}

/**
 * Sends the due deliveries of one endpoint, up to ten at a time, until none is left. First tries start in order of
 * creation without waiting for each other's answers; retries take at most half of the ten while first tries are queued.
 * The job's lease keeps an endpoint to one run. Where an attempt cannot be recorded, the job fails.
 */
export class EndpointRun {
  readonly #sender: Sender;
  readonly #run: JobRun;
  readonly #merchantId: string;
  readonly #endpointId: string;
  readonly #storeId: string;
  readonly #queue = new DueQueue();
  #work: EndpointWork | undefined;
  readonly #attempts = new Set<Attempt>();
  /** The newest attempt, for its first `NEXT_AFTER_MS`: the next one waits for its answer. */
  #awaited: Attempt | undefined;
  #isReading = false;
  /** Set where the last read found that nothing may be sent to this endpoint now. */
  #stopOutcome: JobOutcome | undefined;
  /** Attempts since this endpoint last queued behind the others. */
  #attemptsInRow = 0;
  /** The last read returned everything, and no wake-up has come since. */
  #isReadComplete = false;
  #error: unknown;
  #wake = Promise.withResolvers<void>();

  constructor(sender: Sender, job: Job, run: JobRun) {
    this.#sender = sender;
    this.#run = run;
    this.#merchantId = job.merchantId;
    this.#endpointId = String(job.payload.endpointId);
    this.#storeId = String(job.payload.storeId);
    run.onRevision(() => {
      this.#isReadComplete = false;
      this.#wake.resolve();
    });
    run.signal.addEventListener('abort', () => this.#wake.resolve());
  }

  async execute(): Promise<JobOutcome> {
    while (this.#mayBegin()) {
      const isShort = this.#queue.length < this.#maxInFlight;
      if (!this.#isReadComplete && !this.#isReading && isShort) void this.#readAhead();
      if (this.#stopOutcome === undefined) this.#startAttempts();
      if (!this.#isBusy) {
        if (this.#queue.takeMustReread()) this.#isReadComplete = false;
        // A stopped run has waited for its attempts in flight; had the endpoint been enabled meanwhile, it would go on.
        if (this.#isReadComplete) return await this.#end(this.#stopOutcome ?? this.#outcome());
        continue;
      }
      await this.#waitForWake();
    }
    // Interrupted: the next worker continues at once.
    return await this.#end({ againAtMs: this.#sender.deps.clock.nowMs() });
  }

  get #isBusy(): boolean {
    return this.#attempts.size > 0 || this.#isReading;
  }

  async #end(outcome: JobOutcome): Promise<JobOutcome> {
    this.#run.onRevision(undefined);
    while (this.#isBusy) await this.#waitForWake();
    if (this.#error !== undefined) throw this.#error;
    return outcome;
  }

  /** Reads the next deliveries while the ones before are being sent. */
  async #readAhead(): Promise<void> {
    this.#isReading = true;
    try {
      this.#stopOutcome = await this.#read();
      if (this.#stopOutcome !== undefined) this.#queue.drop();
    } catch (error) {
      this.#error ??= error;
    } finally {
      this.#isReading = false;
      this.#wake.resolve();
    }
  }

  /** How many attempts may be in flight, by the failures of the last read. */
  get #maxInFlight(): number {
    return maxInFlight(this.#work?.failures ?? 0, IN_FLIGHT_MAX);
  }

  #mayBegin(): boolean {
    return this.#error === undefined && !this.#run.signal.aborted && !this.#sender.isStopping;
  }

  async #waitForWake(): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
  }

  /** @returns an outcome where nothing may be sent to this endpoint now */
  async #read(): Promise<JobOutcome | undefined> {
    this.#isReadComplete = true;
    const limit = this.#queue.taken + (this.#maxInFlight === 1 ? READ_AHEAD_FAILING : READ_AHEAD);
    const request = { endpointId: this.#endpointId, storeId: this.#storeId, limit };
    this.#queue.beginRead();
    const work = await this.#sender.read(this.#merchantId, request);
    this.#work = work;
    if (work === undefined) return 'done';
    if (!work.isEnabled) return await this.#pause();
    if (work.secret === undefined) return { againAtMs: this.#sender.deps.clock.nowMs() + NO_KEY_AGAIN_MS };
    const nowSeconds = this.#sender.deps.clock.nowSeconds() + work.clockOffset;
    if (this.#queue.add(work, { limit, nowSeconds })) this.#isReadComplete = false;
    return undefined;
  }

  /** The endpoint was disabled after these deliveries were made or read: pauses them. */
  async #pause(): Promise<JobOutcome> {
    const { db } = this.#sender.deps;
    const pauseSome = async (tx: Tx) => {
      const endpoint = await lockEndpoint(tx, this.#merchantId, this.#endpointId);
      return endpoint?.status === 'disabled' && (await alignBatch(tx, endpoint, 0));
    };
    while (await transact(db, pauseSome));
    return 'done';
  }

  #startAttempts(): void {
    const work = this.#work;
    if (work === undefined) return;
    const max = this.#maxInFlight;
    while (this.#awaited === undefined) {
      const inFlight = [...this.#attempts].filter((attempt) => !attempt.isAcknowledged);
      const unrecorded = this.#attempts.size - inFlight.length;
      if (inFlight.length >= max || unrecorded >= UNRECORDED_MAX) return;
      const retries = inFlight.filter((attempt) => attempt.isRetry).length;
      const due = this.#queue.takeNext(retries < max / 2);
      if (due === undefined) return;
      void this.#attempt(work, due);
    }
  }

  async #attempt(work: EndpointWork, due: DueDelivery): Promise<void> {
    const attempt: Attempt = { isRetry: due.seriesAttempts > 0, isAcknowledged: false };
    const hooks = {
      reusesConnection: this.#attemptsInRow > 0,
      mayBegin: () => this.#mayBegin(),
      startNext: () => this.#startNext(attempt),
      acknowledged: () => {
        attempt.isAcknowledged = true;
        this.#wake.resolve();
      },
    };
    this.#attemptsInRow = (this.#attemptsInRow + 1) % IN_ROW_MAX;
    this.#attempts.add(attempt);
    this.#awaited = attempt;
    try {
      const attempted = await this.#sender.attempt(this.#merchantId, work, due, hooks);
      if (attempted === undefined) return;
      const { failures, dueAt } = attempted;
      if (failures !== undefined && this.#work !== undefined) this.#work.failures = failures;
      this.#queue.recorded(due.eventId, dueAt);
    } catch (error) {
      this.#error ??= error;
    } finally {
      this.#queue.release(due.eventId);
      this.#attempts.delete(attempt);
      this.#startNext(attempt);
      this.#wake.resolve();
    }
  }

  #startNext(after: Attempt): void {
    if (this.#awaited !== after) return;
    this.#awaited = undefined;
    this.#wake.resolve();
  }

  #outcome(): JobOutcome {
    const { nextDueAt } = this.#queue;
    if (this.#work === undefined || nextDueAt === Number.POSITIVE_INFINITY) return 'done';
    return { againAtMs: (nextDueAt - this.#work.clockOffset) * 1000 };
  }
}
