import type { Clock } from '../../platform/db/index.ts';
import { TokenBuckets } from '../../platform/http/index.ts';

/** Looking at a link, and paying through it. Nobody signs these calls, so they are bounded by where they come from. */
const LOOKS = { perSecond: 5, burst: 100 };
const USES = { perSecond: 1, burst: 30 };
/** And by the link, whoever comes: a counter at its busiest stays far below. */
const USES_OF_LINK = { perSecond: 5, burst: 100 };
/** With so many addresses in memory the idle ones are forgotten. */
const KEYS_MAX = 10_000;

/** Of an IPv6 address only the network counts: its owner has all addresses in it. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':');
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** How often links may be opened and paid; in memory, per process. */
export class LinkLimits {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #looks = new TokenBuckets(LOOKS.perSecond, LOOKS.burst, KEYS_MAX);
  readonly #uses = new TokenBuckets(USES.perSecond, USES.burst, KEYS_MAX);
  readonly #usesOfLink = new TokenBuckets(USES_OF_LINK.perSecond, USES_OF_LINK.burst, KEYS_MAX);

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** Whether somebody may look once more. */
  maySee(address: string): boolean {
    return this.#take(this.#looks, networkOf(address));
  }

  /** Whether somebody may make one more session through a link. */
  mayUse(address: string, linkId: string): boolean {
    return this.#take(this.#uses, networkOf(address)) && this.#take(this.#usesOfLink, linkId);
  }

  #take(buckets: TokenBuckets, key: string): boolean {
    return buckets.take(key, this.#clock.nowMs()) === 0;
  }
}
