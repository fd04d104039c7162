/** A bucket of tokens per key: `perSecond` flow in, `burst` fit, each request takes one. In memory, per process. */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes a token. @returns 0, or the milliseconds until the next one is there. */
  take(key: string, nowMs: number): number {
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, atMs: nowMs };
    const flowed = (Math.max(0, nowMs - bucket.atMs) * this.#perSecond) / 1000;
    const tokens = Math.min(this.#burst, bucket.tokens + flowed);
    const granted = tokens >= 1;
    this.#buckets.set(key, { tokens: granted ? tokens - 1 : tokens, atMs: nowMs });
    return granted ? 0 : Math.ceil(((1 - tokens) * 1000) / this.#perSecond);
  }

  /** Forgets the full buckets, so that keys that stay away take no memory. */
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
