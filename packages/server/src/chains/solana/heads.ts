import { Snapshots } from '../blocks/snapshots.ts';
import type { Freshness, Head } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { Epoch, SolanaNode } from './node.ts';
import { orUnavailable, readNumber } from './node-answers.ts';

const REFRESH_MS = 1_000;

export interface Heads {
  tip: Epoch;
  final: Epoch;
  /** Unix seconds of the newest block. */
  time: number;
}

/** The newest blocks, read once for all merchants of the process. */
export class HeadFeed {
  readonly #node: SolanaNode;
  readonly #refreshMs: number;
  readonly #snapshots = new Snapshots<Heads>(() => this.#read());

  /** @param refreshMs for so long an answer is used again (1,000) */
  constructor(node: SolanaNode, refreshMs = REFRESH_MS) {
    this.#node = node;
    this.#refreshMs = refreshMs;
  }

  /**
   * @param freshness `now`: read after the call, or by one that is under way. `relaxed` is no other than `recent`: they cost three calls, and what
   *   a look reads of each address is of its own moment.
   * @throws ChainUnavailable
   */
  async heads(freshness: Freshness = 'recent'): Promise<Heads> {
    if (freshness === 'now') return await this.#snapshots.refresh();
    return await this.#snapshots.youngerThan(this.#refreshMs);
  }

  async #read(): Promise<Heads> {
    // The final block first: the newest one that is read after it cannot be below it on any honest node.
    const final = await this.#node.newest('finalized');
    const tip = await this.#node.newest('confirmed');
    if (tip.slot < final.slot)
      throw new ChainUnavailable(
        'spl',
        `the newest block (${tip.slot}) is below the final one (${final.slot}): a node has gone back`,
      );
    const time = await orUnavailable(this.#node.agreed('getBlockTime', [Number(tip.slot)]));
    return { tip, final, time: Number(readNumber(time, `the time of slot ${tip.slot}`)) };
  }
}

/** Of a block that is older the node may be away from the chain, or the whole network stands still. */
const FRESH_MS = 60_000;

/** Whether the newest block is of now: only then does the chain end there. */
export function isFresh({ time }: Pick<Heads, 'time'>, nowMs: number): boolean {
  return time * 1000 >= nowMs - FRESH_MS;
}

export function headOf({ tip, final, time }: Heads): Head {
  return { height: tip.slot, finalHeight: final.slot, time };
}
