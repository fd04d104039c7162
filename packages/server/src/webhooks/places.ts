import { Semaphore } from '../platform/jobs/index.ts';
import { type Standing, Standings } from './standings.ts';

/**
 * Attempts in flight of this process. Endpoints that fail or hang share half of them, and with those of which nothing is
 * known three quarters: whoever answers always finds semaphore.
 */
const IN_FLIGHT_MAX = 2_000;
const UNPROVEN_MAX = 1_500;
const FAILING_MAX = 1_000;
/** Attempts that keep this process busy. One that has had no answer for a while only waits, and makes semaphore. */
const BUSY_MAX = 64;

/** Who goes first; before them an endpoint that has just answered, as its connection is still open. */
const RANKS = { proven: 1, unproven: 2, failing: 3 } as const;
const IN_ROW_RANK = 0;

/** An attempt's place among those in flight. Each call may be repeated. */
export interface Place {
  /** It only waits for its answer, and keeps nobody busy. */
  wait: () => void;
  /** It has been waiting for long, as those do that hang. */
  hang: () => void;
  /** It has its answer, or is not made. */
  answered: () => void;
  leave: () => void;
}

/** Who may send now: nobody who answers waits for somebody who does not. */
export class Places {
  readonly #all = new Semaphore(IN_FLIGHT_MAX);
  readonly #unproven = new Semaphore(UNPROVEN_MAX);
  readonly #failing = new Semaphore(FAILING_MAX);
  readonly #busy = new Semaphore(BUSY_MAX);
  readonly #standings = new Standings();

  /**
   * @param endpoint with its failures since the last acknowledgement
   * @param isInRow it follows one of the same endpoint that was answered just now
   */
  async enter(endpoint: { endpointId: string; failures: number }, isInRow: boolean): Promise<Place> {
    const standing = this.#standings.of(endpoint.endpointId, endpoint.failures);
    const leaves: (() => void)[] = [];
    if (standing === 'failing') leaves.push(await this.#failing.acquire());
    if (standing !== 'proven') leaves.push(await this.#unproven.acquire());
    leaves.push(await this.#all.acquire());
    const leaveBusy = await this.#busy.acquire(isInRow ? IN_ROW_RANK : RANKS[standing]);
    return this.#place(endpoint.endpointId, { standing, leaves, leaveBusy });
  }

  /** An attempt has ended. */
  ended(endpointId: string, isAcknowledged: boolean): void {
    this.#standings.ended(endpointId, isAcknowledged);
  }

  #place(
    endpointId: string,
    { standing, leaves, leaveBusy }: { standing: Standing; leaves: (() => void)[]; leaveBusy: () => void },
  ): Place {
    let endSlow = () => {};
    return {
      wait: leaveBusy,
      hang: () => {
        endSlow = this.#standings.slowed(endpointId);
        // It counts among those that hang now, however well it stood.
        if (standing !== 'failing') leaves.push(this.#failing.take());
        if (standing === 'proven') leaves.push(this.#unproven.take());
      },
      answered: () => {
        leaveBusy();
        endSlow();
      },
      leave: () => {
        for (const leave of leaves) leave();
      },
    };
  }
}
