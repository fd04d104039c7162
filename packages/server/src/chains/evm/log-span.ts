import { isAnswerTooLarge } from '../rpc/messages.ts';
import { NodeError } from '../rpc/node.ts';

const FIRST = 32n;
const MOST = 2_000n;
const GROW_AFTER = 4;
const LIMIT_EXCEEDED = -32_005;
/** What nodes and providers say of a range that is too wide for them. */
const TOO_MUCH =
  /limit|too (many|large|big|wide)|more than|exceed|block range|range of blocks|response size|result set|time(d)? ?out/i;

/** How many blocks to ask logs for at once: half as many where a node cannot take it, more again after some successes. */
export class LogSpan {
  #blocks = FIRST;
  #successes = 0;

  get blocks(): bigint {
    return this.#blocks;
  }

  /** @returns false where less cannot help: one block, or another reason */
  shrink(error: unknown, requested: bigint): boolean {
    this.#successes = 0;
    if (!isTooMuch(error) || requested <= 1n) return false;
    this.#blocks = requested / 2n;
    return true;
  }

  grow(): void {
    this.#successes += 1;
    if (this.#successes < GROW_AFTER || this.#blocks >= MOST) return;
    this.#successes = 0;
    this.#blocks = this.#blocks * 2n > MOST ? MOST : this.#blocks * 2n;
  }
}

function isTooMuch(error: unknown): boolean {
  if (error instanceof NodeError) return error.code === LIMIT_EXCEEDED || TOO_MUCH.test(error.message);
  return isAnswerTooLarge(error);
}
