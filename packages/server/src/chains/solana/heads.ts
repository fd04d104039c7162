import type { Head } from '../port/port.ts';
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
  #known: { heads: Heads; atMs: number } | undefined;
  #reading: Promise<Heads> | undefined;

  /** @param refreshMs for so long an answer is used again (1,000) */
  constructor(node: SolanaNode, refreshMs = REFRESH_MS) {
    this.#node = node;
    this.#refreshMs = refreshMs;
  }

  /** @throws ChainUnavailable */
  async heads(): Promise<Heads> {
    if (this.#known !== undefined && performance.now() - this.#known.atMs < this.#refreshMs)
      return this.#known.heads;
    return await this.newHeads();
  }

  /** Read after the call, or by one that is under way. @throws ChainUnavailable */
  newHeads(): Promise<Heads> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<Heads> {
    const atMs = performance.now();
    // The final block first: the newest one that is read after it cannot be below it on any honest node.
    const final = await this.#node.newest('finalized');
    const tip = await this.#node.newest('confirmed');
    if (tip.slot < final.slot)
      throw new ChainUnavailable(
        'spl',
        `the newest block (${tip.slot}) is below the final one (${final.slot}): a node has gone back`,
      );
    const time = await orUnavailable(this.#node.agreed('getBlockTime', [Number(tip.slot)]));
    const heads = { tip, final, time: Number(readNumber(time, `the time of slot ${tip.slot}`)) };
    this.#known = { heads, atMs };
    return heads;
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
