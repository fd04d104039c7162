import type { Block, SolanaChain } from './chain.ts';
import { type Commitment, type Config, commitmentOf, heedMinContext } from './params.ts';

export const API_VERSION = '3.0.0';

/** A chain as one endpoint sees it: so many blocks late. */
export class View {
  readonly chain: SolanaChain;
  /** Blocks that this endpoint has not seen yet. */
  lag = 0;
  /** The next transactions that are accepted and never reach a leader. */
  dropTransactions = 0;
  /** Slots that it was away for: it began again from a snapshot behind them, and has neither their blocks nor their transactions. */
  hole: { from: number; to: number } | undefined;
  /** Answers for this genesis instead of the chain's own. */
  genesisHash: string;

  /** Called after each transaction that was taken. */
  readonly sent: () => void;

  constructor(chain: SolanaChain, sent: () => void) {
    this.chain = chain;
    this.sent = sent;
    this.genesisHash = chain.genesisHash;
  }

  /** Whether the block of that slot is in its ledger, if there is one. */
  keeps(slot: number): boolean {
    const { hole } = this;
    return slot >= this.chain.firstAvailable && (hole === undefined || slot < hole.from || slot > hole.to);
  }

  block(commitment: Commitment): Block {
    return this.chain.blockAt(this.#place(commitment));
  }

  /** The newest blocks of a commitment. */
  newest(commitment: Commitment, most: number): Block[] {
    const end = Math.max(0, this.#place(commitment)) + 1;
    return this.chain.blocks.slice(Math.max(0, end - most), end);
  }

  /** @returns undefined where the endpoint has not seen the slot */
  commitmentOf(slot: number): Commitment | undefined {
    if (slot <= this.block('finalized').slot) return 'finalized';
    if (slot <= this.block('confirmed').slot) return 'confirmed';
    return slot <= this.block('processed').slot ? 'processed' : undefined;
  }

  /** The block that a call's configuration asks about. */
  bank(config: Config): Block {
    const block = this.block(commitmentOf(config));
    heedMinContext(config, block.slot);
    return block;
  }

  #place(commitment: Commitment): number {
    const { blocks, confirmedDepth, finalizedDepth } = this.chain;
    const depth = { processed: 0, confirmed: confirmedDepth, finalized: finalizedDepth }[commitment];
    return blocks.length - 1 - this.lag - depth;
  }
}

/** A value with the slot that it is as of. */
export function inContext<T>({ slot }: Block, value: T) {
  return { context: { apiVersion: API_VERSION, slot }, value };
}
