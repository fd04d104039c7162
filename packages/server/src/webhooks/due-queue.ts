import type { DueDelivery, EndpointWork } from './endpoint-work.ts';

/**
 * The due deliveries of one endpoint that were read and are not finished. A read may show deliveries that are queued, in
 * flight or were recorded while it ran; those are not taken twice.
 */
export class DueQueue {
  /** Event ids of deliveries that are queued or in flight. */
  readonly #taken = new Set<string>();
  /** Event ids recorded since the last read began, with the time of their next try. */
  readonly #recorded = new Map<string, number>();
  #firstTries: DueDelivery[] = [];
  #retries: DueDelivery[] = [];
  #nextDueAt = Number.POSITIVE_INFINITY;
  #hasSeenOwn = false;

  /** Deliveries that wait to be sent. */
  get length(): number {
    return this.#firstTries.length + this.#retries.length;
  }

  /** Deliveries that wait or are being sent. */
  get taken(): number {
    return this.#taken.size;
  }

  /** When the next retry is due, merchant's clock; infinite where none is known. */
  get nextDueAt(): number {
    return this.#nextDueAt;
  }

  beginRead(): void {
    this.#recorded.clear();
  }

  /** Queues what a read returned. @returns whether the read reached its limit, so that there may be more */
  add(work: EndpointWork, { limit, nowSeconds }: { limit: number; nowSeconds: number }): boolean {
    const isFresh = ({ eventId }: DueDelivery) => {
      const isOwn = this.#taken.has(eventId) || this.#recorded.has(eventId);
      if (isOwn) this.#hasSeenOwn = true;
      return !isOwn;
    };
    const dueRetries = work.retries.filter(({ dueAt }) => dueAt <= nowSeconds);
    const [firstTries, retries] = [work.firstTries.filter(isFresh), dueRetries.filter(isFresh)];
    for (const { eventId } of [...firstTries, ...retries]) this.#taken.add(eventId);
    this.#firstTries.push(...firstTries);
    this.#retries.push(...retries);
    const laterAt = work.retries.slice(dueRetries.length).map(({ dueAt }) => dueAt);
    this.#nextDueAt = Math.min(...laterAt, ...this.#recorded.values());
    return work.firstTries.length === limit || dueRetries.length === limit;
  }

  /** The next to send: a retry where one may be, otherwise a first try. */
  takeNext(mayRetry: boolean): DueDelivery | undefined {
    const isRetryNext = mayRetry || this.#firstTries.length === 0;
    return (isRetryNext ? this.#retries.shift() : undefined) ?? this.#firstTries.shift();
  }

  /** @param dueAt the time of the next try, if there is one */
  recorded(eventId: string, dueAt: number | undefined): void {
    this.#recorded.set(eventId, dueAt ?? Number.POSITIVE_INFINITY);
    if (dueAt !== undefined) this.#nextDueAt = Math.min(this.#nextDueAt, dueAt);
  }

  release(eventId: string): void {
    this.#taken.delete(eventId);
  }

  /** Drops what waits: it must not be sent, or will be read again. */
  drop(): void {
    for (const { eventId } of [...this.#firstTries, ...this.#retries]) this.#taken.delete(eventId);
    this.#firstTries = [];
    this.#retries = [];
  }

  /** Whether a read returned deliveries that were ours then: only another read shows if they were redelivered since. */
  takeMustReread(): boolean {
    const mustReread = this.#hasSeenOwn;
    this.#hasSeenOwn = false;
    return mustReread;
  }
}
