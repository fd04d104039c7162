import type { Asset } from '@florin/contract/money';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Broadcast, Chain, SignedTx, TransferItem, TxStatus } from './port.ts';

/** What the suite needs around an adapter: a chain of its own that it may move. */
export interface ChainEnvironment {
  chain: Chain;
  /** A key whose wallet starts with sequence 0. */
  keyRef: string;
  /** Gives the wallet of `keyRef` that much, final. */
  fund(asset: Asset, amount: bigint): Promise<void>;
  /** A valid address that never received anything; another one for each number. */
  recipient(number: number): string;
  /** A recipient that every transfer to fails. */
  rejecting: string;
  /** Makes that many blocks. */
  mine(blocks: number): Promise<void>;
  /** Confirmations from which a block is final. */
  finalBlocks: number;
  /** Lets the time or the blocks pass in which any transaction built so far is valid; nothing where it is for ever. */
  expire(): Promise<void>;
  /** Throws away the newest blocks and what they held. */
  reorg(depth: number): Promise<void>;
  /** Makes the node lose the next broadcast and say that it took it. */
  dropNext(): Promise<void>;
  close(): Promise<void>;
}

const ASSET: Asset = 'USDT';
const START_FUNDS = 1_000_000_000n;
const AMOUNT = 1_230_000n;

/** One running wallet: builds with the sequence that comes next, as the engine above reserves it. */
class Sender {
  readonly environment: ChainEnvironment;
  #sequence = 0n;
  #items = 0;

  constructor(environment: ChainEnvironment) {
    this.environment = environment;
  }

  item(to: string, amount: bigint = AMOUNT): TransferItem {
    this.#items += 1;
    return { itemId: `item-${this.#items}`, to, amount };
  }

  fresh(): TransferItem {
    return this.item(this.environment.recipient(this.#items));
  }

  async build(items: TransferItem[], sequence?: bigint): Promise<SignedTx> {
    const { chain, keyRef } = this.environment;
    const spec = { keyRef, asset: ASSET, batchId: `batch-${this.#items}`, items };
    if ((await chain.nextSequence(await chain.sender(keyRef))) === null) return chain.buildTransfer(spec);
    const own = sequence ?? this.#sequence;
    if (sequence === undefined) this.#sequence += 1n;
    return chain.buildTransfer({ ...spec, sequence: String(own) });
  }

  async send(items: TransferItem[]): Promise<SignedTx> {
    const tx = await this.build(items);
    expect(await this.environment.chain.broadcast(tx)).toEqual<Broadcast>({ result: 'accepted' });
    return tx;
  }

  /** Sends and waits until nothing can change any more. */
  async settle(items: TransferItem[]): Promise<TxStatus> {
    const tx = await this.send(items);
    await this.environment.mine(this.environment.finalBlocks);
    return this.environment.chain.status(tx);
  }
}

/** What every adapter must do. A new one passes this before anything is built on it. */
export function describeChain(name: string, open: () => Promise<ChainEnvironment>): void {
  describe(`chain port: ${name}`, () => {
    let environment: ChainEnvironment;
    let chain: Chain;
    let sender: Sender;
    let address: string;

    beforeAll(async () => {
      environment = await open();
      chain = environment.chain;
      sender = new Sender(environment);
      address = await chain.sender(environment.keyRef);
      await environment.fund(ASSET, START_FUNDS);
    });
    afterAll(() => environment.close());

    test('J8: its own addresses are valid and canonical, other text is not', async () => {
      for (const valid of [address, environment.recipient(0), environment.rejecting]) {
        expect(await chain.validateAddress(valid)).toMatchObject({ ok: true, canonical: valid });
      }
      expect(await chain.validateAddress(`${address}x`)).toMatchObject({ ok: false, code: 'format' });
    });

    test('health, head and fee answer', async () => {
      const [health, head] = [await chain.health(), await chain.head()];
      expect(health).toMatchObject({ ok: true, height: head.height });
      expect(head.height - head.finalHeight).toBe(BigInt(environment.finalBlocks - 1));
      const [one, most] = [
        await chain.estimateFee('transfer', 1),
        await chain.estimateFee('transfer', chain.caps.maxItemsPerTx),
      ];
      expect(one.native).toBeGreaterThan(0n);
      expect(most.native).toBeGreaterThanOrEqual(one.native);
    });

    test('a transfer goes unknown, pending, included, final; the same bytes are known and paid once', async () => {
      const item = sender.fresh();
      const tx = await sender.build([item]);
      expect(tx).toMatchObject({ network: chain.network, sender: address, itemIds: [item.itemId] });
      expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
      expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
      expect(await chain.broadcast(tx)).toEqual({ result: 'known' });
      expect(await chain.status(tx)).toEqual({ state: 'pending', final: false });
      await environment.mine(1);
      expect(await chain.status(tx)).toMatchObject({ state: 'included', final: false, itemOk: [true] });
      expect(await chain.balance(item.to, ASSET, 'tip')).toBe(AMOUNT);
      expect(await chain.balance(item.to, ASSET, 'final')).toBe(0n);
      await environment.mine(environment.finalBlocks - 1);
      expect(await chain.status(tx)).toMatchObject({ state: 'final', final: true, itemOk: [true] });
      expect(await chain.broadcast(tx)).toEqual({ result: 'known' });
      await environment.mine(1);
      expect(await chain.balance(item.to, ASSET, 'final')).toBe(AMOUNT);
    });

    test('a full transaction pays every item', async () => {
      const items = Array.from({ length: chain.caps.maxItemsPerTx }, () => sender.fresh());
      const before = await chain.balance(address, ASSET, 'final');
      expect(await sender.settle(items)).toMatchObject({ state: 'final', itemOk: items.map(() => true) });
      for (const item of items) expect(await chain.balance(item.to, ASSET, 'final')).toBe(AMOUNT);
      expect(await chain.balance(address, ASSET, 'final')).toBe(before - AMOUNT * BigInt(items.length));
    });

    test('more items than fit are refused before anything is signed', async () => {
      const items = Array.from({ length: chain.caps.maxItemsPerTx + 1 }, () => sender.fresh());
      await expect(sender.build(items, 10_000n)).rejects.toThrow(/items a transaction/);
      await expect(sender.build([], 10_000n)).rejects.toThrow(/items a transaction/);
    });

    test('J6: a recipient that fails takes only what its network makes it take', async () => {
      const bad = sender.item(environment.rejecting);
      expect(await sender.settle([bad])).toMatchObject({ state: 'failed', final: true, itemOk: [false] });
      if (chain.caps.maxItemsPerTx === 1) return;
      const good = [sender.fresh(), sender.fresh()];
      const mixed = [good[0], sender.item(environment.rejecting), good[1]].filter(
        (item) => item !== undefined,
      );
      const status = await sender.settle(mixed);
      const partial = chain.caps.partialBatch;
      expect(status.state).toBe(partial ? 'final' : 'failed');
      expect(status.itemOk).toEqual([partial, false, partial]);
      for (const item of good) {
        expect(await chain.balance(item.to, ASSET, 'final')).toBe(partial ? AMOUNT : 0n);
      }
      expect(await chain.balance(environment.rejecting, ASSET, 'tip')).toBe(0n);
    });

    test('J6: more than the wallet holds does not move', async () => {
      const before = await chain.balance(address, ASSET, 'tip');
      const status = await sender.settle([sender.item(environment.recipient(9_000), before + 1n)]);
      expect(status).toMatchObject({ state: 'failed', final: true, itemOk: [false] });
      expect(await chain.balance(address, ASSET, 'tip')).toBe(before);
    });

    test('J1: a broadcast that was lost is unknown, and the same bytes still land', async () => {
      await environment.dropNext();
      const item = sender.fresh();
      const tx = await sender.send([item]);
      await environment.mine(1);
      expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
      expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
      await environment.mine(environment.finalBlocks);
      expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
      expect(await chain.balance(item.to, ASSET, 'tip')).toBe(AMOUNT);
    });

    test('J5: after a reorganisation it is unknown again, and the same bytes land once', async () => {
      const item = sender.fresh();
      const tx = await sender.send([item]);
      await environment.mine(1);
      expect(await chain.status(tx)).toMatchObject({ state: 'included' });
      const { height } = await chain.head();
      await environment.reorg(1);
      expect((await chain.head()).height).toBe(height);
      expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
      expect(await chain.balance(item.to, ASSET, 'tip')).toBe(0n);
      expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
      await environment.mine(environment.finalBlocks);
      expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
      expect(await chain.balance(item.to, ASSET, 'tip')).toBe(AMOUNT);
    });

    test('J2: it is dead only when final blocks prove that it can never be mined', async () => {
      await environment.dropNext();
      const lost = await sender.send([sender.fresh()]);
      const isSequenced = lost.sequence !== undefined;
      if (isSequenced) {
        // The same sequence, used by another transaction.
        const rival = await sender.build([sender.fresh()], BigInt(lost.sequence ?? '0'));
        expect(await chain.broadcast(rival)).toEqual({ result: 'accepted' });
        await environment.mine(1);
        expect(await chain.status(lost)).toEqual({ state: 'unknown', final: false });
        await environment.mine(environment.finalBlocks);
      } else {
        await environment.mine(environment.finalBlocks);
        expect(await chain.status(lost)).toEqual({ state: 'unknown', final: false });
        await environment.expire();
      }
      expect(await chain.status(lost)).toMatchObject({ state: 'dead', final: true });
      expect(await chain.broadcast(lost)).toMatchObject({ result: 'rejected', retryable: false });
      await environment.mine(environment.finalBlocks);
      expect(await chain.status(lost)).toMatchObject({ state: 'dead', final: true });
    });

    test('bytes that were changed, or belong elsewhere, are refused', async () => {
      const tx = await sender.build([sender.fresh()], 20_000n);
      const flipped = tx.raw.slice(0, 40) + (tx.raw.at(40) === 'A' ? 'B' : 'A') + tx.raw.slice(41);
      const other = chain.network === 'erc20' ? 'trc20' : 'erc20';
      for (const wrong of [
        { ...tx, raw: flipped },
        { ...tx, raw: '' },
        { ...tx, network: other } as const,
        { ...tx, txId: `${tx.txId}0` },
        { ...tx, itemIds: ['another'] },
      ]) {
        expect(await chain.broadcast(wrong)).toMatchObject({ result: 'rejected', retryable: false });
      }
    });
  });
}
