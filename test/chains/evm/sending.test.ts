import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import {
  ChainUnavailable,
  FeeCeilingReached,
  type SignedTx,
  type TransferSpec,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import { freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { nextSigning } from '../next-signing.ts';
import { AMOUNT, FINAL_BLOCKS, fresh, payout, World } from './world.ts';

const UNKNOWN = { state: 'unknown', final: false };

describe.skipIf(!hasAnvil())('sending on an EVM network', () => {
  let world: World;
  let sender: EvmSender;
  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    sender = world.sender();
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const next = () => world.sequenceOf(world.hot);
  const specOf = async (count = 2): Promise<TransferSpec> =>
    payout('USDT', fresh(count), { sequence: await next() });
  const received = async () => await world.balance('USDT', freshAddress(0));

  /** The same payments at a higher price, as the same attempt. */
  const bump = (spec: TransferSpec, replaces: SignedTx, by = sender) =>
    by.buildTransfer({ ...spec, replaces });

  describe('J1 send once', () => {
    test('J1: a version that would have other contents is not asked for: it is no version', async () => {
      const spec = await specOf(1);
      const tx = await sender.buildTransfer(spec);
      const asked = world.signer.requests.length;
      await expect(
        bump({ ...spec, ...payout('USDT', fresh(2)), sequence: spec.sequence ?? '' }, tx),
      ).rejects.toThrow('other contents');
      // As after the payout contract was taken out of the networks file.
      await expect(bump(spec, tx, world.sender({ batchPayout: null }))).rejects.toThrow('other contents');
      expect(world.signer.requests.length).toBe(asked);
    });

    test('J1: unknown, pending, included, final; the same bytes are known, and paid once', async () => {
      const tx = await sender.buildTransfer(await specOf());
      expect(await sender.status(tx)).toEqual(UNKNOWN);
      expect(await sender.broadcast(tx)).toEqual({ result: 'accepted' });
      expect(await sender.broadcast(tx)).toEqual({ result: 'known' });
      expect(await sender.status(tx)).toEqual({ state: 'pending', final: false });
      await world.mine(1);
      expect(await sender.status(tx)).toMatchObject({
        state: 'included',
        final: false,
        itemOk: [true, true],
      });
      await world.mine(FINAL_BLOCKS - 1);
      expect(await sender.status(tx)).toMatchObject({ state: 'included', final: false });
      await world.mine(1);
      const status = await sender.status(tx);
      expect(status).toMatchObject({ state: 'final', final: true, itemOk: [true, true] });
      const receipt = await world.client.getTransactionReceipt({ hash: `0x${tx.txId.slice(2)}` });
      expect(status).toMatchObject({
        height: receipt.blockNumber,
        fee: receipt.gasUsed * receipt.effectiveGasPrice,
      });
      expect(await sender.broadcast(tx)).toEqual({ result: 'known' });
      expect(await received()).toBe(AMOUNT);
    });

    test('J1: a lost broadcast is unknown, and the same bytes are mined later', async () => {
      const tx = await sender.buildTransfer(await specOf());
      world.node.dropNext();
      expect(await sender.broadcast(tx)).toEqual({ result: 'accepted' });
      await world.mine(FINAL_BLOCKS);
      expect(await sender.status(tx)).toEqual(UNKNOWN);
      expect(await world.settle(sender, tx)).toMatchObject({ state: 'final' });
      expect(await received()).toBe(AMOUNT);
    });

    test('J1: an attempt that is asked for again gets its first bytes, whatever the fees are now', async () => {
      await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 40_000_000_000n });
      await world.mine(1);
      const spec = await specOf();
      const first = await sender.buildTransfer(spec);
      await world.mine(30);
      const { feeLimit } = await sender.buildTransfer(
        payout('USDT', fresh(2), { sequence: spec.sequence ?? '' }),
      );
      expect(feeLimit).toBeLessThan(first.feeLimit ?? 0n);
      expect(await sender.buildTransfer({ ...spec })).toEqual(first);
    });
  });

  describe('J2 proof of death', () => {
    test('J2: dead only when a final block has passed its sequence without it', async () => {
      const spec = await specOf();
      const lost = await sender.buildTransfer(spec);
      const rival = await sender.buildTransfer(
        payout('USDT', fresh(1, 50), { sequence: spec.sequence ?? '' }),
      );
      await sender.broadcast(rival);
      await world.mine(FINAL_BLOCKS);
      expect(await sender.status(lost)).toEqual(UNKNOWN);
      expect(await sender.broadcast(lost)).toEqual({
        result: 'rejected',
        code: 'nonce_too_low',
        retryable: false,
      });
      await world.mine(1);
      expect(await sender.status(lost)).toMatchObject({ state: 'dead', final: true, itemOk: [false, false] });
      expect(await sender.status(rival)).toMatchObject({ state: 'final', final: true });
    });
  });

  test.for([0, 2, 4])(
    'J3: of five in a row number %i is lost: those behind it wait, and nothing is skipped',
    async (k) => {
      const first = BigInt(await next());
      const list = await Promise.all(
        Array.from({ length: 5 }, (_, i) =>
          sender.buildTransfer(payout('USDT', fresh(1, 100 + i), { sequence: String(first + BigInt(i)) })),
        ),
      );
      for (const [i, tx] of list.entries()) {
        if (i === k) world.node.dropNext();
        expect(await sender.broadcast(tx)).toEqual({ result: 'accepted' });
      }
      await world.mine(FINAL_BLOCKS + 1);
      const states = async () => await Promise.all(list.map(async (tx) => (await sender.status(tx)).state));
      expect(await states()).toEqual(list.map((_, i) => (i < k ? 'final' : i === k ? 'unknown' : 'pending')));
      const [lost] = list.slice(k);
      if (lost === undefined) throw new Error('nothing is lost');
      expect(await sender.broadcast(lost)).toEqual({ result: 'accepted' });
      await world.mine(FINAL_BLOCKS + 1);
      expect(await states()).toEqual(list.map(() => 'final'));
      for (const i of list.keys()) expect(await world.balance('USDT', freshAddress(100 + i))).toBe(AMOUNT);
    },
  );

  describe('J4 replacement', () => {
    test('J4: both versions are watched, and the second lands: the first is dead', async () => {
      const spec = await specOf();
      const first = await sender.buildTransfer(spec);
      await sender.broadcast(first);
      const second = await bump(spec, first);
      expect(second.txId).not.toBe(first.txId);
      expect(second.sequence).toBe(first.sequence);
      expect((second.feeLimit ?? 0n) * 8n).toBeGreaterThanOrEqual((first.feeLimit ?? 0n) * 9n);
      expect(await world.settle(sender, second)).toMatchObject({ state: 'final', itemOk: [true, true] });
      expect(await sender.status(first)).toMatchObject({ state: 'dead', final: true });
      expect(await received()).toBe(AMOUNT);
    });

    test('J4: bump race: the old one lands, and the new one is dead', async () => {
      const spec = await specOf();
      const first = await sender.buildTransfer(spec);
      const second = await bump(spec, first);
      await sender.broadcast(first);
      await world.mine(1);
      expect(await sender.broadcast(second)).toMatchObject({ result: 'rejected', code: 'nonce_too_low' });
      await world.mine(FINAL_BLOCKS);
      expect(await sender.status(first)).toMatchObject({ state: 'final', itemOk: [true, true] });
      expect(await sender.status(second)).toMatchObject({ state: 'dead', final: true });
      expect(await received()).toBe(AMOUNT);
    });

    test('J4: versions follow each other up to the ceiling, and there is no further one', async () => {
      const ceilings = { ...world.network().feeCeilings, maxFeePerGas: 6_000_000_000n };
      const limited = world.sender({ feeCeilings: ceilings });
      const spec = await specOf();
      const versions = [await limited.buildTransfer(spec)];
      const last = () => versions.at(-1) ?? versions[0];
      for (let i = 0; i < 40; i++) {
        const replaced = last();
        if (replaced === undefined) throw new Error('no version');
        try {
          versions.push(await bump(spec, replaced, limited));
        } catch (error) {
          expect(error).toBeInstanceOf(FeeCeilingReached);
          break;
        }
      }
      expect(versions.length).toBeGreaterThan(5);
      expect(versions.length).toBeLessThan(40);
      expect(new Set(versions.map(({ txId }) => txId)).size).toBe(versions.length);
      for (const version of versions) {
        expect(await limited.broadcast(version)).toEqual({ result: 'accepted' });
      }
      await world.mine(FINAL_BLOCKS + 1);
      const states = await Promise.all(versions.map(async (one) => (await limited.status(one)).state));
      expect(states).toEqual([...versions.slice(1).map(() => 'dead'), 'final']);
      expect(await received()).toBe(AMOUNT);
    });

    test('J4: what is replaced has the same sequence', async () => {
      const spec = await specOf();
      const first = await sender.buildTransfer(spec);
      const other = { ...spec, sequence: String(Number(spec.sequence) + 1), signing: nextSigning() };
      await expect(bump(other, first)).rejects.toThrow(UnbuildableTransfer);
    });
  });

  describe('bytes that are not ours', () => {
    test('are refused without a node', async () => {
      const tx = await sender.buildTransfer(await specOf());
      const { raw } = tx;
      const other = await world
        .sender({ chainId: 1 })
        .buildTransfer(payout('USDT', fresh(1), { sequence: '900' }));
      const flip = (at: number) => `${raw.slice(0, at)}${raw.at(at) === '7' ? '8' : '7'}${raw.slice(at + 1)}`;
      const cut = [2, 3, 4, 5, 12, 60, 200, 400, raw.length - 3].map((at) => ({ ...tx, raw: flip(at) }));
      const wrong: SignedTx[] = [
        ...cut,
        { ...tx, raw: '' },
        { ...tx, raw: raw.toUpperCase() },
        { ...tx, raw: raw.slice(0, -2) },
        { ...tx, raw: `${raw}00` },
        { ...tx, network: 'trc20' },
        { ...tx, txId: `${tx.txId}0` },
        { ...tx, sender: freshAddress(1) },
        { ...tx, sequence: '7000' },
        { ...tx, itemIds: tx.itemIds.slice(1) },
        { ...tx, itemIds: [...tx.itemIds, 'another'] },
        other,
      ];
      const before = world.node.calls.length;
      for (const one of wrong) {
        expect(await sender.broadcast(one)).toMatchObject({ result: 'rejected', retryable: false });
      }
      expect(world.node.calls).toHaveLength(before);
      expect(await sender.broadcast(other)).toMatchObject({ code: 'wrong_chain' });
      expect(await sender.broadcast(tx)).toEqual({ result: 'accepted' });
    });
  });

  test('a node that is away leaves everything unknown', async () => {
    const spec = await specOf();
    const tx = await sender.buildTransfer(spec);
    const away = await World.start();
    await away.stop();
    const gone = away.sender();
    await expect(gone.broadcast(tx)).rejects.toThrow(ChainUnavailable);
    await expect(gone.status(tx)).rejects.toThrow(ChainUnavailable);
    await expect(gone.buildTransfer(payout('USDT', fresh(1), { sequence: '0' }))).rejects.toThrow(
      ChainUnavailable,
    );
    await expect(gone.estimateFee('transfer', 1)).rejects.toThrow(ChainUnavailable);
  });
});
