import { isBroken } from './states.ts';

/** Endpoints remembered for having answered; of more, the ones that were heard of longest ago are strangers again. */
const PROVEN_MAX = 100_000;

/**
 * How an endpoint has answered this process lately. `proven`: its last attempt was acknowledged, and none waits long for
 * its answer. `failing`: it keeps failing, or is a stranger whose attempt waits long. `unproven`: everybody between.
 */
export type Standing = 'proven' | 'unproven' | 'failing';

/** Plain memory of one process: it decides who goes first, and nothing else. */
export class Standings {
  /** The one heard of last is at the end. */
  readonly #proven = new Set<string>();
  /** How many attempts of an endpoint have been waiting for long. */
  readonly #slow = new Map<string, number>();

  /** @param failures attempts of the endpoint that failed since its last acknowledgement */
  of(endpointId: string, failures: number): Standing {
    if (isBroken(failures)) return 'failing';
    const [isProven, isSlow] = [this.#proven.has(endpointId), this.#slow.has(endpointId)];
    if (isProven === isSlow) return 'unproven';
    return isProven ? 'proven' : 'failing';
  }

  /** An attempt has ended. */
  ended(endpointId: string, isAcknowledged: boolean): void {
    this.#proven.delete(endpointId);
    if (!isAcknowledged) return;
    this.#proven.add(endpointId);
    if (this.#proven.size <= PROVEN_MAX) return;
    const [oldest] = this.#proven;
    if (oldest !== undefined) this.#proven.delete(oldest);
  }

  /** One of its attempts has been waiting for its answer for long. @returns how to tell that it is over; again does nothing */
  slowed(endpointId: string): () => void {
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
