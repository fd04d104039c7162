import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { delegationTo } from '../../../packages/server/src/chains/evm/contracts.ts';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import { type SweepItem, UnbuildableTransfer } from '../../../packages/server/src/chains/port/port.ts';
import { delegateDeployment, sweeperDeployment } from '../../../packages/signer/src/contracts.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { depositWallet, TANK } from './key-signer.ts';
import { sweepOf, World } from './world.ts';

const DEPOSITED = 5_000_000n;
const SWEPT = 4_000_000n;
const GAS_EACH = 37_000n;

describe.skipIf(!hasAnvil())('sweeps on an EVM network', () => {
  let world: World;
  let sender: EvmSender;
  const deposits = Array.from({ length: 8 }, (_, index) => index);
  const addressOf = (index: number) => depositWallet(1, index).address;
  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    sender = world.sender();
    for (const index of deposits) {
      for (const asset of ['USDT', 'USDC'] as const) await world.mint(asset, addressOf(index), DEPOSITED);
    }
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const items = (asset: 'USDT' | 'USDC', of = deposits, amount = SWEPT): Omit<SweepItem, 'itemId'>[] =>
    of.map((index) => ({ index, asset, amount }));
  const build = async (list: Omit<SweepItem, 'itemId'>[], by = sender) =>
    await by.buildSweep(sweepOf(list, { sequence: await world.sequenceOf(TANK.address) }));
  const sweep = async (list: Omit<SweepItem, 'itemId'>[]) => {
    const tx = await build(list);
    return { tx, status: await world.settle(sender, tx) };
  };
  const gasOf = async (txId: string) =>
    (await world.client.getTransactionReceipt({ hash: `0x${txId.slice(2)}` })).gasUsed;

  for (const asset of ['USDT', 'USDC'] as const) {
    test(`eight addresses without ether are swept of ${asset} into the hot wallet, within their gas`, async () => {
      const before = await world.balance(asset, world.hot);
      const { tx, status } = await sweep(items(asset));
      expect(status).toMatchObject({ state: 'final', final: true, itemOk: deposits.map(() => true) });
      expect(await world.balance(asset, world.hot)).toBe(before + 8n * SWEPT);
      for (const index of deposits) {
        expect(await world.balance(asset, addressOf(index))).toBe(DEPOSITED - SWEPT);
        expect(await world.client.getBalance({ address: addressOf(index) })).toBe(0n);
      }
      expect((await gasOf(tx.txId)) / 8n).toBeLessThanOrEqual(GAS_EACH);
      expect(tx.sender).toBe(TANK.address);
    });
  }

  test('an address delegates once: the second sweep carries authorizations of the new ones alone', async () => {
    await sweep(items('USDT', [0, 1, 2]));
    const delegate = delegateDeployment(world.hot, sweeperDeployment(TANK.address).address).address;
    expect(await world.client.getCode({ address: addressOf(0) })).toBe(delegationTo(delegate));
    const { status } = await sweep(items('USDC'));
    expect(status.itemOk).toEqual(deposits.map(() => true));
    expect(world.signer.requests.at(-1)?.purpose).toMatchObject({
      kind: 'sweep',
      delegates: [3, 4, 5, 6, 7].map((index) => ({ index, nonce: '0' })),
    });
    const last = await build(items('USDT', deposits, 1n));
    expect(last.raw.slice(0, 4)).toBe('0x02');
    expect(await world.settle(sender, last)).toMatchObject({ itemOk: deposits.map(() => true) });
  });

  test('both assets of an address are swept in one transaction, with one authorization', async () => {
    const { status } = await sweep([...items('USDT', [0, 1]), ...items('USDC', [0, 1])]);
    expect(status.itemOk).toEqual([true, true, true, true]);
    expect(world.signer.requests.at(-1)?.purpose).toMatchObject({
      delegates: [
        { index: 0, nonce: '0' },
        { index: 1, nonce: '0' },
      ],
    });
  });

  test('J6: a blacklisted address, and one that holds too little, fail alone', async () => {
    await world.list('USDT', addressOf(2));
    const list = items('USDT').map((item) => (item.index === 5 ? { ...item, amount: DEPOSITED + 1n } : item));
    const { status } = await sweep(list);
    expect(status.state).toBe('final');
    expect(status.itemOk).toEqual(deposits.map((index) => index !== 2 && index !== 5));
    expect(await world.balance('USDT', addressOf(2))).toBe(DEPOSITED);
  });

  test('J6: where every address burns what it is given, the sweep still ends, with nothing moved', async () => {
    const { status } = await sweep(items('USDT', deposits, DEPOSITED + 1n));
    expect(status).toMatchObject({
      state: 'failed',
      final: true,
      itemOk: deposits.map(() => false),
      reason: 'nothing_moved',
    });
  });

  test('an address that has sent on its own is swept, by the nonce that it has now', async () => {
    const key = depositWallet(1, 3);
    await world.client.setBalance({ address: key.address, value: 10n ** 18n });
    await world.client.sendTransaction({
      account: key,
      chain: world.client.chain,
      to: TANK.address,
      value: 1n,
    });
    await world.mine();
    expect((await sweep(items('USDT'))).status.itemOk).toEqual(deposits.map(() => true));
  });

  test('J4: a sweep is replaced at a higher price, and counts once', async () => {
    const spec = sweepOf(items('USDT'), { sequence: await world.sequenceOf(TANK.address) });
    const first = await sender.buildSweep(spec);
    await sender.broadcast(first);
    const second = await sender.buildSweep({ ...spec, replaces: first });
    expect(await world.settle(sender, second)).toMatchObject({ itemOk: deposits.map(() => true) });
    expect(await sender.status(first)).toMatchObject({ state: 'dead', final: true });
  });

  test('J1: asked for again after another sweep has delegated, it gets its first bytes', async () => {
    const spec = sweepOf(items('USDT', [0]), { sequence: await world.sequenceOf(TANK.address) });
    const stored = await sender.buildSweep({ ...spec, sequence: String(Number(spec.sequence) + 1) });
    const other = await sender.buildSweep(sweepOf(items('USDC', [0]), { sequence: spec.sequence }));
    await world.settle(sender, other);
    const again = await sender.buildSweep({
      ...spec,
      items: spec.items,
      sequence: String(Number(spec.sequence) + 1),
    });
    expect(again).toEqual(stored);
    expect(await world.settle(sender, again)).toMatchObject({ itemOk: [true] });
  });

  test('what breaks a rule is refused before anybody signs', async () => {
    const asked = world.signer.requests.length;
    const refused: Omit<SweepItem, 'itemId'>[][] = [
      [],
      items(
        'USDT',
        Array.from({ length: sender.sweepsPerTx + 1 }, (_, index) => index),
      ),
      items('USDT', [0, 0]),
      items('USDT', [0], 0n),
      items('USDT', [-1]),
      items('USDT', [0.5]),
      items('USDT', [2 ** 31]),
    ];
    for (const list of refused) await expect(build(list)).rejects.toThrow(UnbuildableTransfer);
    const bare = world.sender({ sweeper: null });
    expect(bare.sweepsPerTx).toBe(0);
    await expect(build(items('USDT'), bare)).rejects.toThrow('has no sweeper');
    const foreign = world.sender({ sweeper: addressOf(0) });
    await expect(build(items('USDT'), foreign)).rejects.toThrow("this installation's gas tank is 0x");
    const another = world.sender({}, 2);
    await expect(build(items('USDT'), another)).rejects.toThrow('has to be deployed first');
    expect(world.signer.requests).toHaveLength(asked);
  });
});
