import type { ChainTransfer, ScanAnswer } from '../../packages/server/src/chains/port/port.ts';
import type { ChainEnvironment } from './conformance-environment.ts';

/** A reader of deposits that keeps its cursor and the final transfers that it has read. */
export class Watcher {
  readonly environment: ChainEnvironment;
  readonly addresses: string[];
  cursor: string;
  readonly final: ChainTransfer[] = [];
  readonly #watch: string[];

  private constructor(
    environment: ChainEnvironment,
    deposits: { address: string; watch: string }[],
    cursor: string,
  ) {
    this.environment = environment;
    this.addresses = deposits.map(({ address }) => address);
    this.#watch = deposits.map(({ watch }) => watch);
    this.cursor = cursor;
  }

  /** Opens a watcher with that many unused addresses. */
  static async open(environment: ChainEnvironment, addresses = 1): Promise<Watcher> {
    const { chain } = environment;
    const deposits = await Promise.all(
      Array.from({ length: addresses }, () => chain.depositAddress({ index: nextIndex++ })),
    );
    return new Watcher(environment, deposits, await chain.cursorAt((await chain.head()).finalHeight));
  }

  get address(): string {
    return this.addresses[0] ?? '';
  }

  pay(...amounts: bigint[]): Promise<string> {
    const from = this.environment.recipient(7_000);
    return this.environment.pay(amounts.map((amount) => ({ from, to: this.address, asset: 'USDT', amount })));
  }

  /** Reads final blocks to their end. Returns what it found now. */
  async readFinal(limit?: number): Promise<ChainTransfer[]> {
    const found: ChainTransfer[] = [];
    for (;;) {
      const page = { cursor: this.cursor, watch: this.#watch, ...(limit === undefined ? {} : { limit }) };
      const answer = await this.environment.chain.scan({ level: 'final', ...page });
      const early = answer.transfers.find(({ height }) => height > answer.head.finalHeight);
      if (early !== undefined)
        throw new Error(`${keyOf(early)} is in a final answer and not in a final block`);
      if (limit !== undefined && answer.transfers.length > limit)
        throw new Error('more transfers than the limit');
      this.cursor = answer.cursor;
      found.push(...answer.transfers);
      if (answer.complete) break;
    }
    this.final.push(...found);
    return found;
  }

  readTip(): Promise<ScanAnswer> {
    return this.environment.chain.scan({ level: 'tip', cursor: this.cursor, watch: this.#watch });
  }

  async seen(): Promise<string[]> {
    return (await this.readTip()).transfers.map(keyOf);
  }
}

/** Shared by the suite, so that no test sees transfers of another. */
let nextIndex = 0;

/** The identity of a transfer. */
export function keyOf({ txId, index }: { txId: string; index: number }): string {
  return `${txId}:${index}`;
}
