import { isFailing } from './states.ts';

/** Proven endpoints remembered; beyond that the ones that answered longest ago become unproven again. */
const PROVEN_MAX = 100_000;

/**
 * How an endpoint has answered this process lately. `proven`: its last attempt was acknowledged, and none is slow.
 * `failing`: five or more failures in a row, or not proven with a slow attempt. `unproven`: the others.
 */
export type EndpointScore = 'proven' | 'unproven' | 'failing';

/** Scores endpoints in this process's memory. A score ranks attempts and decides nothing else. */
export class EndpointScores {
  /** In order of their last answer, newest last. */
  readonly #proven = new Set<string>();
  /** Slow attempts of each endpoint. */
  readonly #slow = new Map<string, number>();

  /** @param failures attempts of the endpoint that failed since its last acknowledgement */
  of(endpointId: string, failures: number): EndpointScore {
    if (isFailing(failures)) return 'failing';
    const [isProven, isSlow] = [this.#proven.has(endpointId), this.#slow.has(endpointId)];
    if (isProven === isSlow) return 'unproven';
    return isProven ? 'proven' : 'failing';
  }

  /** Records how an attempt ended. */
  recordResult(endpointId: string, isAcknowledged: boolean): void {
    this.#proven.delete(endpointId);
    if (!isAcknowledged) return;
    this.#proven.add(endpointId);
    if (this.#proven.size <= PROVEN_MAX) return;
    const [oldest] = this.#proven;
    if (oldest !== undefined) this.#proven.delete(oldest);
  }

  /** Counts a slow attempt. @returns a function that ends it; a second call does nothing */
  markSlow(endpointId: string): () => void {
    this.#slow.set(endpointId, (this.#slow.get(endpointId) ?? 0) + 1);
    let isSlow = true;
    return () => {
      if (!isSlow) return;
      isSlow = false;
      const left = (this.#slow.get(endpointId) ?? 1) - 1;
      if (left > 0) this.#slow.set(endpointId, left);
      else this.#slow.delete(endpointId);
    };
  }
}
