import type { Clock } from '../../platform/db/index.ts';
import { TokenBuckets } from '../../platform/http/index.ts';
import { networkOf } from '../../platform/network-of.ts';

/** Limits per client network for viewing a link and for paying through it; these requests are unsigned. */
const VIEWS = { perSecond: 5, burst: 100 };
const USES = { perSecond: 1, burst: 30 };
/** Limit per link for all clients together, far above a busy shop counter. */
const USES_OF_LINK = { perSecond: 5, burst: 100 };
/** Above this number, idle buckets are dropped. */
const KEYS_MAX = 10_000;

/** Rate limits of payment links; in memory, per process. */
export class LinkLimits {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #views = new TokenBuckets(VIEWS.perSecond, VIEWS.burst, KEYS_MAX);
  readonly #uses = new TokenBuckets(USES.perSecond, USES.burst, KEYS_MAX);
  readonly #usesOfLink = new TokenBuckets(USES_OF_LINK.perSecond, USES_OF_LINK.burst, KEYS_MAX);

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** Counts a view. @returns false above the limit */
  mayView(address: string): boolean {
    return this.#take(this.#views, networkOf(address));
  }

  /** Counts a new session of a link. @returns false above the limit */
  mayUse(address: string, linkId: string): boolean {
    return this.#take(this.#uses, networkOf(address)) && this.#take(this.#usesOfLink, linkId);
  }

  #take(buckets: TokenBuckets, key: string): boolean {
    return buckets.take(key, this.#clock.nowMs()) === 0;
  }
}
