import { Fail } from '../fail.ts';

/** A token bucket per key: `perSecond` tokens flow in, `burst` fit, each request takes one. In memory, per process. */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  readonly #keysMax: number;

  /** @param keysMax above this number of keys, each take forgets the full buckets */
  constructor(perSecond: number, burst: number, keysMax = Number.POSITIVE_INFINITY) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#keysMax = keysMax;
  }

  /** Takes a token. @returns 0, or milliseconds until the next one. */
  take(key: string, nowMs: number): number {
    if (this.#buckets.size > this.#keysMax) this.sweep(nowMs);
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, atMs: nowMs };
    const flowed = (Math.max(0, nowMs - bucket.atMs) * this.#perSecond) / 1000;
    const tokens = Math.min(this.#burst, bucket.tokens + flowed);
    const granted = tokens >= 1;
    this.#buckets.set(key, { tokens: granted ? tokens - 1 : tokens, atMs: nowMs });
    return granted ? 0 : Math.ceil(((1 - tokens) * 1000) / this.#perSecond);
  }

  /** Takes a token. @throws Fail `rate_limited`, which says when to come back */
  takeOrRefuse(key: string, nowMs: number, message: string): void {
    const waitMs = this.take(key, nowMs);
    if (waitMs > 0) throw new Fail('rate_limited', { message, retryAfterSeconds: Math.ceil(waitMs / 1000) });
  }

  /** Forgets the full buckets, so that unused keys take no memory. */
  sweep(nowMs: number): void {
    const fullAfterMs = (this.#burst * 1000) / this.#perSecond;
    for (const [key, bucket] of this.#buckets) {
      if (nowMs - bucket.atMs > fullAfterMs) this.#buckets.delete(key);
    }
  }

  get size(): number {
    return this.#buckets.size;
  }
}
