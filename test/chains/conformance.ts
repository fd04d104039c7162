import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Chain,
  type SignedTx,
  type TransferItem,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../../packages/server/src/chains/port/port.ts';
import { describeCharges } from './conformance-charges.ts';
import { describeDeposits } from './conformance-deposits.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { approvedGroup } from './conformance-groups.ts';
import { describeHolding } from './conformance-holding.ts';
import { describeScans } from './conformance-scans.ts';
import { nextSigning } from './next-signing.ts';

const START_FUNDS = 1_000_000_000n;
const AMOUNT = 1_230_000n;
/** For transactions that are never mined, so that they leave no gap in the sequences. */
const UNSENT_SEQUENCE = 20_000n;

/** A wallet that builds with its next sequence, as `transfers` reserves it. */
class Sender {
  readonly environment: ChainEnvironment;
  #sequence = 0n;
  #items = 0;

  constructor(environment: ChainEnvironment) {
    this.environment = environment;
  }

  item(to: string, amount: bigint = AMOUNT): TransferItem {
    this.#items += 1;
    return { itemId: `item-${this.#items}`, place: 0, to, amount };
  }

  fresh(): TransferItem {
    return this.item(this.environment.recipient(this.#items));
  }

  async build(
    items: TransferItem[],
    sequence?: bigint,
    { groupId, ...bid }: Pick<TransferSpec, 'replaces'> & { groupId?: string } = {},
  ): Promise<SignedTx> {
    const { chain, keyRef, asset } = this.environment;
    const signing = nextSigning();
    const group = approvedGroup(asset, items, groupId ?? signing.attemptId);
    const spec = { signing, keyRef, ...group, ...bid };
    if ((await chain.nextSequence(await chain.sender(keyRef))) === null) return chain.buildTransfer(spec);
    const own = sequence ?? this.#sequence;
    if (sequence === undefined) this.#sequence += 1n;
    return chain.buildTransfer({ ...spec, sequence: String(own) });
  }

  async send(items: TransferItem[]): Promise<SignedTx> {
    const tx = await this.build(items);
    const answer = await this.environment.chain.broadcast(tx);
    if (answer.result !== 'accepted') throw new Error(`broadcast answered ${answer.result}`);
    return tx;
  }

  /** Sends and waits until nothing can change any more. */
  async settle(items: TransferItem[]): Promise<TxStatus> {
    const tx = await this.send(items);
    await this.environment.mine(this.environment.finalBlocks);
    return this.environment.chain.status(tx);
  }
}

/** Set before the first test of a suite runs. */
interface Fixture {
  environment: ChainEnvironment;
  chain: Chain;
  sender: Sender;
  /** Of the wallet that sends. */
  address: string;
}
type GetFixture = () => Fixture;

/**
 * The requirements for every adapter of the port.
 *
 * @param options `charges`: false for an adapter that charges no wallets, whose own test says what it answers then
 */
export function describeChain(
  name: string,
  open: () => Promise<ChainEnvironment>,
  { charges = true }: { charges?: boolean } = {},
): void {
  describe(`chain port: ${name}`, () => {
    let fixture: Fixture | undefined;
    const get = (): Fixture => {
      if (fixture === undefined) throw new Error('the chain is not open');
      return fixture;
    };
    beforeAll(async () => {
      const environment = await open();
      const { chain, keyRef } = environment;
      fixture = { environment, chain, sender: new Sender(environment), address: await chain.sender(keyRef) };
      await environment.fund(environment.asset, START_FUNDS);
    });
    afterAll(() => fixture?.environment.close());

    describeReading(get);
    describeSending(get);
    describeFailing(get);
    describeRecovering(get);
    describeDying(get);
    describeDeposits(() => get().environment);
    describeScans(() => get().environment);
    if (charges) describeCharges(() => get().environment);
    describeHolding(open);
  });
}

function describeReading(get: GetFixture): void {
  test('J8: its own addresses are valid and canonical, other text is not', async () => {
    const { chain, environment, address } = get();
    for (const valid of [address, environment.recipient(0), environment.rejecting]) {
      expect(await chain.validateAddress(valid)).toMatchObject({ ok: true, canonical: valid });
    }
    expect(await chain.validateAddress(`${address}0`)).toMatchObject({ ok: false, code: 'format' });
  });

  test('health, head and fee answer', async () => {
    const { chain, environment } = get();
    const [health, head] = [await chain.health(), await chain.head()];
    expect(health).toMatchObject({ ok: true, height: head.height });
    expect(head.height - head.finalHeight).toBe(BigInt(environment.finalBlocks - 1));
    const one = await chain.estimateFee('transfer', 1);
    const most = await chain.estimateFee('transfer', chain.capabilities.maxItemsPerTx);
    expect(one.native).toBeGreaterThan(0n);
    expect(most.native).toBeGreaterThanOrEqual(one.native);
  });
}

function describeSending(get: GetFixture): void {
  test('J1: a transfer goes unknown, pending, included, final; the same bytes are known and paid once', async () => {
    const { chain, environment, sender, address } = get();
    const item = sender.fresh();
    const tx = await sender.build([item]);
    expect(tx).toMatchObject({ network: chain.network, sender: address, itemIds: [item.itemId] });
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    expect(await chain.broadcast(tx)).toEqual({ result: 'known' });
    expect(await chain.status(tx)).toEqual({ state: 'pending', final: false });
    await environment.mine(1);
    expect(await chain.status(tx)).toMatchObject({ state: 'included', final: false, itemOk: [true] });
    expect(await chain.balance(item.to, environment.asset, 'tip')).toBe(AMOUNT);
    expect(await chain.balance(item.to, environment.asset, 'final')).toBe(0n);
    await environment.mine(environment.finalBlocks - 1);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', final: true, itemOk: [true] });
    expect(await chain.broadcast(tx)).toEqual({ result: 'known' });
    await environment.mine(1);
    expect(await chain.balance(item.to, environment.asset, 'final')).toBe(AMOUNT);
  });

  test('a full transaction pays every item', async () => {
    const { chain, environment, sender, address } = get();
    const items = Array.from({ length: chain.capabilities.maxItemsPerTx }, () => sender.fresh());
    const before = await chain.balance(address, environment.asset, 'final');
    expect(await sender.settle(items)).toMatchObject({ state: 'final', itemOk: items.map(() => true) });
    for (const item of items) expect(await chain.balance(item.to, environment.asset, 'final')).toBe(AMOUNT);
    expect(await chain.balance(address, environment.asset, 'final')).toBe(
      before - AMOUNT * BigInt(items.length),
    );
  });

  test('more items than fit, or none, are refused before anything is signed', async () => {
    const { chain, sender } = get();
    const items = Array.from({ length: chain.capabilities.maxItemsPerTx + 1 }, () => sender.fresh());
    await expect(sender.build(items, UNSENT_SEQUENCE)).rejects.toThrow(UnbuildableTransfer);
    await expect(sender.build([], UNSENT_SEQUENCE)).rejects.toThrow(UnbuildableTransfer);
  });
}

function describeFailing(get: GetFixture): void {
  test('J6: a transfer that fails alone moves nothing', async () => {
    const { environment, sender } = get();
    const status = await sender.settle([sender.item(environment.rejecting)]);
    expect(status).toMatchObject({ state: 'failed', final: true, itemOk: [false] });
  });

  test('J6: one bad item fails its whole transaction, or only itself where batches are partial', async () => {
    const { chain, environment, sender } = get();
    const { partialBatch, maxItemsPerTx } = chain.capabilities;
    const good = [sender.fresh(), sender.fresh()].slice(0, maxItemsPerTx - 1);
    const status = await sender.settle([sender.item(environment.rejecting), ...good]);
    expect(status.state).toBe(partialBatch ? 'final' : 'failed');
    expect(status.itemOk).toEqual([false, ...good.map(() => partialBatch)]);
    for (const item of good) {
      expect(await chain.balance(item.to, environment.asset, 'final')).toBe(partialBatch ? AMOUNT : 0n);
    }
    expect(await chain.balance(environment.rejecting, environment.asset, 'tip')).toBe(0n);
  });

  test('J6: more than the wallet holds does not move', async () => {
    const { chain, environment, sender, address } = get();
    const before = await chain.balance(address, environment.asset, 'tip');
    const status = await sender.settle([sender.item(environment.recipient(9_000), before + 1n)]);
    expect(status).toMatchObject({ state: 'failed', final: true, itemOk: [false] });
    expect(await chain.balance(address, environment.asset, 'tip')).toBe(before);
  });

  test('changed bytes, and bytes of another chain, are refused', async () => {
    const { chain, sender } = get();
    const tx = await sender.build([sender.fresh()], UNSENT_SEQUENCE);
    const flipped = tx.raw.slice(0, 40) + (tx.raw.at(40) === 'A' ? 'B' : 'A') + tx.raw.slice(41);
    const other = chain.network === 'erc20' ? 'trc20' : 'erc20';
    const wrong: SignedTx[] = [
      { ...tx, raw: flipped },
      { ...tx, raw: '' },
      { ...tx, network: other },
      { ...tx, txId: `${tx.txId}0` },
      { ...tx, itemIds: [...tx.itemIds, 'another'] },
    ];
    for (const bytes of wrong) {
      expect(await chain.broadcast(bytes)).toMatchObject({ result: 'rejected', retryable: false });
    }
  });
}

function describeRecovering(get: GetFixture): void {
  test('J1: a lost broadcast is unknown, and the same bytes are still mined', async () => {
    const { chain, environment, sender } = get();
    await environment.dropNext();
    const item = sender.fresh();
    const tx = await sender.send([item]);
    await environment.mine(1);
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    await environment.mine(environment.finalBlocks);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
    expect(await chain.balance(item.to, environment.asset, 'tip')).toBe(AMOUNT);
  });

  test('J5: after a reorganisation it is unknown again, and the same bytes are mined once', async () => {
    const { chain, environment, sender } = get();
    const item = sender.fresh();
    const tx = await sender.send([item]);
    await environment.mine(1);
    expect(await chain.status(tx)).toMatchObject({ state: 'included' });
    await environment.reorg(1);
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    expect(await chain.balance(item.to, environment.asset, 'tip')).toBe(0n);
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    await environment.mine(environment.finalBlocks);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
    expect(await chain.balance(item.to, environment.asset, 'tip')).toBe(AMOUNT);
  });
}

function describeDying(get: GetFixture): void {
  test('J2: it is dead only when final blocks prove that it can never be mined', async () => {
    const { chain, environment, sender } = get();
    await environment.dropNext();
    const lost = await sender.send([sender.fresh()]);
    if (lost.sequence !== undefined) {
      const rival = await sender.build([sender.fresh()], BigInt(lost.sequence));
      await chain.broadcast(rival);
      await environment.mine(1);
    } else {
      await environment.mine(environment.finalBlocks);
    }
    expect(await chain.status(lost)).toEqual({ state: 'unknown', final: false });
    await environment.mine(environment.finalBlocks);
    await environment.expire();
    expect(await chain.status(lost)).toMatchObject({ state: 'dead', final: true });
    expect(await chain.broadcast(lost)).toMatchObject({ result: 'rejected', retryable: false });
    await environment.mine(environment.finalBlocks);
    expect(await chain.status(lost)).toMatchObject({ state: 'dead', final: true });
  });

  test('J4: another version takes the place of a transaction, and never with other contents, where one may be replaced', async () => {
    const { chain, environment, sender, address } = get();
    if (!chain.capabilities.replaceByFee) return;
    const items = Array.from({ length: chain.capabilities.maxItemsPerTx }, () => sender.fresh());
    const groupId = 'versions';
    const first = await sender.build(items, undefined, { groupId });
    expect(await chain.broadcast(first)).toMatchObject({ result: 'accepted' });
    const sequence = BigInt(first.sequence ?? 0);
    const others = sender.build([sender.item(address, 1n)], sequence, { replaces: first });
    await expect(others).rejects.toThrow(UnbuildableTransfer);
    const second = await sender.build(items, sequence, { groupId, replaces: first });
    expect(await chain.broadcast(second)).toMatchObject({ result: 'accepted' });
    await environment.mine(environment.finalBlocks);
    expect(await chain.status(second)).toMatchObject({ state: 'final' });
    expect(await chain.status(first)).toMatchObject({ state: 'dead', final: true });
  });
}
