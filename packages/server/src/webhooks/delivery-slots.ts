import { Semaphore } from '../platform/jobs/index.ts';
import { type EndpointScore, EndpointScores } from './endpoint-scores.ts';

/**
 * Limits of a process's attempts in flight. Failing or hanging endpoints get at most half of the slots, and together with
 * unproven ones three quarters, so that an endpoint that answers always finds a slot.
 */
const IN_FLIGHT_MAX = 2_000;
const UNPROVEN_MAX = 1_500;
const FAILING_MAX = 1_000;
/** Attempts that use the CPU. One that has waited 250 ms for its answer is idle and no longer counts. */
const BUSY_MAX = 64;

/** Lower goes first; first of all an endpoint that has just answered, as its connection is still open. */
const RANKS = { proven: 1, unproven: 2, failing: 3 } as const;
const REUSE_RANK = 0;

/** The slot of one attempt in flight. Each call may be repeated. */
export interface DeliverySlot {
  /** The attempt only waits for its answer and uses no CPU. */
  markIdle: () => void;
  /** The attempt has waited for 1 s: it counts as hanging. */
  markHanging: () => void;
  /** The attempt has its answer, or is not made. */
  markAnswered: () => void;
  release: () => void;
}

/** Grants slots to attempts, so that endpoints that answer never wait for endpoints that do not. */
export class DeliverySlots {
  readonly #all = new Semaphore(IN_FLIGHT_MAX);
  readonly #unproven = new Semaphore(UNPROVEN_MAX);
  readonly #failing = new Semaphore(FAILING_MAX);
  readonly #busy = new Semaphore(BUSY_MAX);
  readonly #scores = new EndpointScores();

  /**
   * Waits for a slot.
   *
   * @param endpoint with its failures since the last acknowledgement
   * @param reusesConnection an attempt of the same endpoint was answered just now
   */
  async acquire(
    endpoint: { endpointId: string; failures: number },
    reusesConnection: boolean,
  ): Promise<DeliverySlot> {
    const score = this.#scores.of(endpoint.endpointId, endpoint.failures);
    const releases: (() => void)[] = [];
    if (score === 'failing') releases.push(await this.#failing.acquire());
    if (score !== 'proven') releases.push(await this.#unproven.acquire());
    releases.push(await this.#all.acquire());
    const releaseBusy = await this.#busy.acquire(reusesConnection ? REUSE_RANK : RANKS[score]);
    return this.#slot(endpoint.endpointId, { score, releases, releaseBusy });
  }

  /** Records how an attempt ended: the endpoint's next ones are ranked by it. */
  recordResult(endpointId: string, isAcknowledged: boolean): void {
    this.#scores.recordResult(endpointId, isAcknowledged);
  }

  #slot(
    endpointId: string,
    {
      score,
      releases,
      releaseBusy,
    }: { score: EndpointScore; releases: (() => void)[]; releaseBusy: () => void },
  ): DeliverySlot {
    let endSlow = () => {};
    return {
      markIdle: releaseBusy,
      markHanging: () => {
        endSlow = this.#scores.markSlow(endpointId);
        // From now on it counts as hanging, whatever its score was.
        if (score !== 'failing') releases.push(this.#failing.take());
        if (score === 'proven') releases.push(this.#unproven.take());
      },
      markAnswered: () => {
        releaseBusy();
        endSlow();
      },
      release: () => {
        for (const release of releases) release();
      },
    };
  }
}
