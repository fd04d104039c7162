import type { TronBlock, TronChain } from './chain.ts';
import type { TransactionInfo } from './run.ts';
import type { TronTransaction } from './wire.ts';

/** A chain as one endpoint sees it. */
export class TronView {
  readonly chain: TronChain;
  /** Called after each transaction that was taken. */
  readonly sent: () => Promise<void>;
  /** Blocks that this endpoint has not seen yet. */
  lag = 0;
  /** Blocks by which its solid view is later still. */
  solidLag = 0;
  /** Whether it has a solid view. */
  solid = true;
  /** Whether it answers `estimateenergy`: java-tron does not by default. */
  estimates = true;
  /** The next transactions that are accepted and reach nobody. */
  dropTransactions = 0;
  /** Whether it tells of transactions by their id (`storage.transHistory.switch`). */
  history = true;
  /** Whether it runs constant calls (`vm.supportConstant`). */
  constant = true;
  /** Whether it gives several blocks in one answer (`getblockbylimitnext`). */
  ranges = true;
  /** Transactions that have logged so many bytes more, by their id: what somebody who burns enough can do. */
  readonly swollen = new Map<string, number>();

  constructor(chain: TronChain, sent: () => Promise<void>) {
    this.chain = chain;
    this.sent = sent;
  }

  head(solid: boolean): TronBlock {
    const { number } = this.chain.head;
    const behind = solid ? this.chain.solidDepth + this.solidLag : 0;
    return this.chain.blockAt(number - this.lag - behind);
  }

  block(number: number, solid: boolean): TronBlock | undefined {
    return number <= this.head(solid).number ? this.chain.blocks[number] : undefined;
  }

  info(id: string, solid: boolean): TransactionInfo | undefined {
    const info = this.chain.included.get(id);
    return info !== undefined && info.blockNumber <= this.head(solid).number ? this.shown(info) : undefined;
  }

  shown(info: TransactionInfo): TransactionInfo {
    const bytes = this.swollen.get(info.id);
    if (bytes === undefined) return info;
    const further = { address: 'ab'.repeat(20), topics: ['cd'.repeat(32)], data: 'ef'.repeat(bytes) };
    return { ...info, log: [further, ...(info.log ?? [])] };
  }

  /** A transaction that waits: what lies in blocks that it has not seen is still in its pool. */
  waiting(id: string): TronTransaction | undefined {
    const waiting = this.chain.pool.get(id);
    const info = this.chain.included.get(id);
    if (waiting !== undefined || info === undefined || this.info(id, false) !== undefined) return waiting;
    return this.chain.blockAt(info.blockNumber).included.find(({ tx }) => tx.id === id)?.tx;
  }
}
