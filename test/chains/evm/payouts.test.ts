import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import { type TransferSpec, UnbuildableTransfer } from '../../../packages/server/src/chains/port/port.ts';
import { findUnpaid, unpaidKey } from '../../../packages/signer/src/unpaid-items.ts';
import { freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { nextSigning } from '../next-signing.ts';
import { TANK } from './key-signer.ts';
import { AMOUNT, fresh, payout, World } from './world.ts';

const GAS_MAX = { USDT: 6_300_000n, USDC: 6_600_000n } as const;

describe.skipIf(!hasAnvil())('payouts on an EVM network', () => {
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
  const gasOf = async (txId: string) =>
    (await world.client.getTransactionReceipt({ hash: `0x${txId.slice(2)}` })).gasUsed;

  for (const asset of ['USDT', 'USDC'] as const) {
    test(`200 items of ${asset} in one transaction, within its gas`, async () => {
      const spec = payout(asset, fresh(200), { sequence: await next() });
      const tx = await sender.buildTransfer(spec);
      const status = await world.settle(sender, tx);
      expect(status).toMatchObject({ state: 'final', final: true });
      expect(status.itemOk).toEqual(spec.items.map(() => true));
      expect(status.paidBefore).toBeUndefined();
      expect(await gasOf(tx.txId)).toBeLessThanOrEqual(GAS_MAX[asset]);
      for (const { to } of [spec.items[0], spec.items[99], spec.items[199]].flatMap((item) => item ?? [])) {
        expect(await world.balance(asset, freshAddressOf(to))).toBe(AMOUNT);
      }
      const { native } = await sender.estimateFee('transfer', 200);
      expect(native).toBeGreaterThan(0n);
    });

    for (const at of [0, 100, 199]) {
      test(`J6: of 200 items of ${asset} one that fails at ${at} fails alone`, async () => {
        const spec = payout(asset, fresh(200), { sequence: await next() });
        const bad = spec.items[at];
        if (bad === undefined) throw new Error('no such item');
        if (asset === 'USDC') await world.list('USDC', freshAddressOf(bad.to));
        // USDT looks at the sender alone: there, what fails alone is what the wallet does not hold.
        else bad.amount = 10n ** 15n;
        const { authority, ...rest } = spec;
        const approved = spec.items.map(({ place, to, amount }) => ({ place, to, amount, memo: null }));
        if (authority === undefined) throw new Error('no authority');
        const tx = await sender.buildTransfer({ ...rest, authority: { ...authority, items: approved } });
        const status = await world.settle(sender, tx);
        expect(status.state).toBe('final');
        expect(status.itemOk).toEqual(spec.items.map((_, place) => place !== at));
        expect(await world.balance(asset, freshAddressOf(bad.to))).toBe(0n);
      });
    }
  }

  test('an item that was paid before counts as paid, and nothing moves a second time', async () => {
    const first = payout('USDT', fresh(3), { sequence: await next() });
    const part = { ...first, items: first.items.slice(0, 2) };
    expect(await world.settle(sender, await sender.buildTransfer(part))).toMatchObject({
      itemOk: [true, true],
    });
    const again = { ...first, signing: nextSigning(), sequence: await next() };
    const status = await world.settle(sender, await sender.buildTransfer(again));
    expect(status).toMatchObject({ itemOk: [true, true, true], paidBefore: [true, true, false] });
    for (const { to } of first.items) expect(await world.balance('USDT', freshAddressOf(to))).toBe(AMOUNT);
    const third = { ...first, signing: nextSigning(), sequence: await next() };
    expect(await world.settle(sender, await sender.buildTransfer(third))).toMatchObject({
      state: 'final',
      itemOk: [true, true, true],
      paidBefore: [true, true, true],
    });
  });

  test("a signer's own node shows which items of a transaction never pay, once that is final", async () => {
    const sequence = await next();
    const whole = payout('USDT', fresh(3), { sequence });
    const { groupId } = whole;
    const contract = world.network().batchPayout ?? '';
    const before = (at: bigint) =>
      [0, 1, 2].map((place) => ({ attempt: 'one', place, sender: world.hot, sequence: at, contract }));
    const own = { node: world.node.url, chainId: 31_337n };
    const found = async (rules: { node: string | null; chainId: bigint } = own, at = BigInt(sequence)) =>
      [...(await findUnpaid(rules, groupId, before(at)))].toSorted();
    expect(await found()).toEqual([]);
    const tx = await sender.buildTransfer({ ...whole, items: whole.items.slice(0, 1) });
    expect((await sender.broadcast(tx)).result).toBe('accepted');
    await world.mine(1);
    expect(await found()).toEqual([]);
    await world.mine(world.finalBlocks + 1);
    expect(await found()).toEqual([unpaidKey('one', 1), unpaidKey('one', 2)]);
    expect(await found(own, BigInt(sequence) + 1n)).toEqual([]);
    for (const rules of [
      { ...own, chainId: 1n },
      { ...own, node: null },
      { ...own, node: 'http://127.0.0.1:1' },
    ])
      expect(await found(rules)).toEqual([]);
    // A contract that is not there has paid nothing, as far as anybody can tell.
    const elsewhere = before(BigInt(sequence)).map((one) => ({ ...one, contract: freshAddress(99) }));
    expect((await findUnpaid(own, groupId, elsewhere)).size).toBe(0);
  });

  test('J6: a paused token fails every item, and the sequence is used up', async () => {
    const sequence = await next();
    const tx = await sender.buildTransfer(payout('USDC', fresh(3), { sequence }));
    await world.pause('USDC');
    expect(await world.settle(sender, tx)).toMatchObject({
      state: 'failed',
      final: true,
      itemOk: [false, false, false],
      reason: 'nothing_moved',
    });
    expect(await next()).toBe(String(BigInt(sequence) + 1n));
  });

  describe('where the network has no payout contract', () => {
    test('an item is a transfer of its own, judged by its event', async () => {
      const single = world.sender({ batchPayout: null });
      expect(single.maxItemsPerTx).toBe(1);
      for (const asset of ['USDT', 'USDC'] as const) {
        const spec = payout(asset, fresh(1), { sequence: await next() });
        const tx = await single.buildTransfer(spec);
        expect(await world.settle(single, tx)).toMatchObject({ state: 'final', itemOk: [true] });
        expect(await world.balance(asset, freshAddress(0))).toBe(AMOUNT);
      }
      const two = payout('USDT', fresh(2), { sequence: await next() });
      await expect(single.buildTransfer(two)).rejects.toThrow('1 to 1 items');
    });

    test('J6: a transfer that reverts has failed, and moves nothing', async () => {
      const single = world.sender({ batchPayout: null });
      await world.list('USDC', freshAddress(0));
      const tx = await single.buildTransfer(payout('USDC', fresh(1), { sequence: await next() }));
      expect(await world.settle(single, tx)).toMatchObject({
        state: 'failed',
        final: true,
        itemOk: [false],
        reason: 'reverted',
      });
    });

    test('a fee of the token is borne by the recipient, and the item is paid', async () => {
      await world.own('USDT', 'setParams', [10n, 10n]);
      const single = world.sender({ batchPayout: null });
      const tx = await single.buildTransfer(payout('USDT', fresh(1), { sequence: await next() }));
      expect(await world.settle(single, tx)).toMatchObject({ state: 'final', itemOk: [true] });
      expect(await world.balance('USDT', freshAddress(0))).toBe(AMOUNT - AMOUNT / 1_000n);
    });
  });

  test('what breaks a rule is refused before anybody signs', async () => {
    const asked = world.signer.requests.length;
    const sequence = await next();
    const { tokens, batchPayout, sweeper } = world.network();
    const recipients = [
      '0x0000000000000000000000000000000000000000',
      '0x000000000000000000000000000000000000dEaD',
      TANK.address.toLowerCase(),
      `0x${TANK.address.slice(2).toUpperCase()}`,
      TANK.address.replace(/[a-f]/, (letter) => letter.toUpperCase()),
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      tokens.USDT?.address ?? '',
      tokens.USDC?.address ?? '',
      batchPayout ?? '',
      sweeper ?? '',
    ];
    const specs = [
      payout('USDT', []),
      payout('USDT', fresh(201)),
      ...recipients.map((to) => payout('USDT', [...fresh(1), { to }])),
      ...[0n, -1n, 2n ** 63n].map((amount) => payout('USDT', [{ to: freshAddress(1), amount }])),
      payout('USDT', fresh(1), { groupId: 'batch-1' }),
      payout('USDT', fresh(1), { keyRef: 'tank' }),
      payout('USDT', fresh(1), { keyRef: 'deposit:0' }),
    ].map((spec): TransferSpec => ({ ...spec, sequence }));
    const good = payout('USDT', fresh(2), { sequence });
    const [first, second] = good.items;
    if (first === undefined || second === undefined || good.authority === undefined)
      throw new Error('no items');
    const { authority, ...unapproved } = good;
    specs.push(
      { ...good, items: [first, { ...second, place: 0 }] },
      { ...good, items: [first, { ...second, place: 0.5 }] },
      { ...good, items: [first, { ...second, amount: second.amount + 1n }] },
      { ...good, items: [{ ...first, to: freshAddress(9) }, second] },
      { ...good, authority: { ...authority, id: payout('USDT', []).groupId } },
      { ...good, asset: 'USDC' },
      { ...good, sequence: '' },
    );
    for (const spec of [...specs, unapproved]) {
      await expect(sender.buildTransfer(spec)).rejects.toThrow(UnbuildableTransfer);
    }
    await expect(
      world.sender({ tokens: { USDC: { address: world.tokens.USDC } } }).buildTransfer(good),
    ).rejects.toThrow('has no USDT');
    const low = { ...world.network().feeCeilings, gasPerTransaction: 1_000_000n };
    const small = world.sender({ feeCeilings: low });
    expect(small.maxItemsPerTx).toBe(17);
    await expect(small.buildTransfer(payout('USDT', fresh(18), { sequence }))).rejects.toThrow('1 to 17');
    expect(world.signer.requests).toHaveLength(asked);
    await expect(sender.buildTransfer(good)).resolves.toMatchObject({ sequence });
  });
});

function freshAddressOf(to: string): `0x${string}` {
  return `0x${to.slice(2)}`;
}
