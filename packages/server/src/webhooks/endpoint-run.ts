import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { alignSome } from './align-deliveries.ts';
import type { DueDelivery, EndpointWork, Sender } from './endpoint-work.ts';
import { lockEndpoint } from './queries.ts';
import { attemptsAtOnce } from './states.ts';

const IN_FLIGHT_MAX = 10;
/** Acknowledged attempts whose record is still to be written: so many at most are made once more after a crash. */
const UNRECORDED_MAX = 20;
/** Read ahead of what is in flight, of first tries and of retries each; less of an endpoint that takes one at a time. */
const READ_AHEAD = 50;
const READ_AHEAD_FAILING = 10;
/** Attempts that go before those of other endpoints, each following the answer to the one before. */
const IN_ROW_MAX = 10;
const NO_KEY_AGAIN_MS = 60_000;

/**
 * Sends what is due to one endpoint until nothing is, several at a time: first tries are started in order of creation
 * and none waits for another's answer; retries take at most half of the places while first tries are waiting. The job's
 * lease keeps the endpoint to one run. An attempt that fails to be recorded ends the run as a failure of the job.
 */
export class EndpointRun {
  readonly #sender: Sender;
  readonly #run: JobRun;
  readonly #merchantId: string;
  readonly #endpointId: string;
  readonly #storeId: string;
  /** Deliveries read and not yet recorded, by event: queued or in flight. */
  readonly #known = new Set<string>();
  /** Recorded since the last reading began, which may show them as they were: by event, when they are due again. */
  readonly #ended = new Map<string, number>();
  #work: EndpointWork | undefined;
  #firstTries: DueDelivery[] = [];
  #retries: DueDelivery[] = [];
  #inFlight = 0;
  #retriesInFlight = 0;
  /** Acknowledged and not yet recorded. */
  #unrecorded = 0;
  #isReading = false;
  /** What the last reading said where nothing may be sent to this endpoint now. */
  #halted: JobOutcome | undefined;
  /** An attempt has been begun so lately that the next one waits for its answer. */
  #isAhead = false;
  /** Attempts since this endpoint last stood in line behind the others. */
  #inRow = 0;
  /** The last reading showed all there was, and nobody has called since. */
  #hasAll = false;
  /** A reading showed what was in flight: whether it was asked for again since its end, only another one tells. */
  #isDoubtful = false;
  /** When the next retry is due by the merchant's clock. */
  #nextDueAt = Number.POSITIVE_INFINITY;
  #error: unknown;
  #wake = Promise.withResolvers<void>();

  constructor(sender: Sender, job: Job, run: JobRun) {
    this.#sender = sender;
    this.#run = run;
    this.#merchantId = job.merchantId;
    this.#endpointId = String(job.payload.endpointId);
    this.#storeId = String(job.payload.storeId);
    run.onNews(() => {
      this.#hasAll = false;
      this.#wake.resolve();
    });
    run.signal.addEventListener('abort', () => this.#wake.resolve());
  }

  async drive(): Promise<JobOutcome> {
    while (this.#mayBegin()) {
      const queued = this.#firstTries.length + this.#retries.length;
      if (!this.#hasAll && !this.#isReading && queued < this.#atOnce) void this.#readAhead();
      if (this.#halted === undefined) this.#start();
      if (!this.#isBusy) {
        if (this.#isDoubtful) this.#hasAll = false;
        this.#isDoubtful = false;
        // Where nothing may be sent it still waited for what was in flight: had it been enabled meanwhile, it would go on.
        if (this.#hasAll) return await this.#end(this.#halted ?? this.#outcome());
        continue;
      }
      await this.#rest();
    }
    // Stopped in the middle: whoever comes next goes on at once.
    return await this.#end({ againAtMs: this.#sender.deps.clock.nowMs() });
  }

  get #isBusy(): boolean {
    return this.#inFlight > 0 || this.#unrecorded > 0 || this.#isReading;
  }

  async #end(outcome: JobOutcome): Promise<JobOutcome> {
    this.#run.onNews(undefined);
    while (this.#isBusy) await this.#rest();
    if (this.#error !== undefined) throw this.#error;
    return outcome;
  }

  /** Reads while what was read before is being sent. */
  async #readAhead(): Promise<void> {
    this.#isReading = true;
    try {
      this.#halted = await this.#read();
      if (this.#halted !== undefined) this.#forget();
    } catch (error) {
      this.#error ??= error;
    } finally {
      this.#isReading = false;
      this.#wake.resolve();
    }
  }

  /** How many attempts may be in flight, as far as is known of the endpoint. */
  get #atOnce(): number {
    return attemptsAtOnce(this.#work?.failures ?? 0, IN_FLIGHT_MAX);
  }

  #mayBegin(): boolean {
    return this.#error === undefined && !this.#run.signal.aborted && !this.#sender.isStopping;
  }

  async #rest(): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
  }

  /** @returns an outcome where there is nothing to be sent to this endpoint now */
  async #read(): Promise<JobOutcome | undefined> {
    this.#hasAll = true;
    const limit = this.#known.size + (this.#atOnce === 1 ? READ_AHEAD_FAILING : READ_AHEAD);
    const asked = { endpointId: this.#endpointId, storeId: this.#storeId, limit };
    this.#ended.clear();
    const work = await this.#sender.read(this.#merchantId, asked);
    this.#work = work;
    if (work === undefined) return 'done';
    if (!work.isEnabled) return await this.#pause();
    if (work.secret === undefined) return { againAtMs: this.#sender.deps.clock.nowMs() + NO_KEY_AGAIN_MS };
    const nowSeconds = this.#nowSeconds(work);
    const isFresh = ({ eventId }: DueDelivery) => {
      const isOurs = this.#known.has(eventId) || this.#ended.has(eventId);
      if (isOurs) this.#isDoubtful = true;
      return !isOurs;
    };
    const dueRetries = work.retries.filter(({ dueAt }) => dueAt <= nowSeconds);
    const [firstTries, retries] = [work.firstTries.filter(isFresh), dueRetries.filter(isFresh)];
    for (const { eventId } of [...firstTries, ...retries]) this.#known.add(eventId);
    this.#firstTries.push(...firstTries);
    this.#retries.push(...retries);
    const laterAt = work.retries.slice(dueRetries.length).map(({ dueAt }) => dueAt);
    this.#nextDueAt = Math.min(...laterAt, ...this.#ended.values());
    if (work.firstTries.length === limit || dueRetries.length === limit) this.#hasAll = false;
    return undefined;
  }

  /** It was disabled as these were made, or after they were read. */
  async #pause(): Promise<JobOutcome> {
    const { db } = this.#sender.deps;
    const pauseSome = async (tx: Tx) => {
      const endpoint = await lockEndpoint(tx, this.#merchantId, this.#endpointId);
      return endpoint?.status === 'disabled' && (await alignSome(tx, endpoint, 0));
    };
    while (await transact(db, pauseSome));
    return 'done';
  }

  /** What is queued is not to be sent, or will be read again. */
  #forget(): void {
    for (const { eventId } of [...this.#firstTries, ...this.#retries]) this.#known.delete(eventId);
    this.#firstTries = [];
    this.#retries = [];
  }

  #start(): void {
    const work = this.#work;
    if (work === undefined) return;
    const most = this.#atOnce;
    while (this.#inFlight < most && this.#unrecorded < UNRECORDED_MAX && !this.#isAhead) {
      const due = this.#next(most);
      if (due === undefined) return;
      void this.#attempt(work, due);
    }
  }

  #next(most: number): DueDelivery | undefined {
    const isRetryTurn = this.#firstTries.length === 0 || this.#retriesInFlight < most / 2;
    return (isRetryTurn ? this.#retries.shift() : undefined) ?? this.#firstTries.shift();
  }

  async #attempt(work: EndpointWork, due: DueDelivery): Promise<void> {
    const isRetry = due.seriesAttempts > 0;
    this.#isAhead = true;
    let isAhead = true;
    let isInFlight = true;
    const turn = {
      isInRow: this.#inRow > 0,
      mayBegin: () => this.#mayBegin(),
      follow: () => {
        if (!isAhead) return;
        isAhead = false;
        this.#isAhead = false;
        this.#wake.resolve();
      },
      acknowledged: () => {
        isInFlight = false;
        this.#inFlight -= 1;
        if (isRetry) this.#retriesInFlight -= 1;
        this.#unrecorded += 1;
        this.#wake.resolve();
      },
    };
    this.#inRow = (this.#inRow + 1) % IN_ROW_MAX;
    this.#inFlight += 1;
    if (isRetry) this.#retriesInFlight += 1;
    try {
      const attempted = await this.#sender.attempt(this.#merchantId, work, due, turn);
      if (attempted === undefined) return;
      const { failures, dueAt } = attempted;
      if (failures !== undefined && this.#work !== undefined) this.#work.failures = failures;
      this.#ended.set(due.eventId, dueAt ?? Number.POSITIVE_INFINITY);
      if (dueAt !== undefined) this.#nextDueAt = Math.min(this.#nextDueAt, dueAt);
    } catch (error) {
      this.#error ??= error;
    } finally {
      this.#known.delete(due.eventId);
      if (!isInFlight) this.#unrecorded -= 1;
      else this.#inFlight -= 1;
      if (isInFlight && isRetry) this.#retriesInFlight -= 1;
      this.#wake.resolve();
    }
  }

  #outcome(): JobOutcome {
    if (this.#work === undefined || this.#nextDueAt === Number.POSITIVE_INFINITY) return 'done';
    return { againAtMs: (this.#nextDueAt - this.#work.clockOffset) * 1000 };
  }

  #nowSeconds(work: EndpointWork): number {
    return this.#sender.deps.clock.nowSeconds() + work.clockOffset;
  }
}
