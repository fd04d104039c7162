import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestChain, type TestChain, type TestOrder } from '../../../../../test/chains/open-test-chain.ts';
import type { SignedTx } from '../port/port.ts';
import { readBody } from './envelope.ts';
import type { SimulatedChain } from './simulated-chain.ts';
import { faucetAddress, STUCK_SECONDS, testAddresses } from './test-addresses.ts';

const UNITS = 1_000_000n;

/** One merchant's chain for each test, in a database that the file's tests share. */
const base = new Map<Network, TestChain>();
let fresh: TestChain;

beforeAll(async () => {
  for (const network of NETWORKS) base.set(network, await openTestChain(network));
});
afterAll(() => Promise.all([...base.values()].map((chain) => chain.close())));

async function start(network: Network): Promise<SimulatedChain> {
  const opened = base.get(network);
  if (opened === undefined) throw new Error(`no ${network} chain is open`);
  fresh = opened.openSibling();
  await fresh.chain.fund('USDT', 1_000n * UNITS);
  return fresh.chain;
}

const build = (order?: TestOrder) => fresh.build(order);
const send = (order?: TestOrder) => fresh.send(order);
const recipient = (number: number) => fresh.recipient(number);
const stateOf = async (tx: SignedTx) => (await fresh.chain.status(tx)).state;

describe('blocks follow the clock', () => {
  beforeEach(async () => void (await start('erc20')));

  test('a block a second; a waiting transaction is in the next one, and final with the third', async () => {
    const { chain, time } = fresh;
    const { height, finalHeight } = await chain.head();
    expect(height - finalHeight).toBe(2n);
    const tx = await send();
    expect(await stateOf(tx)).toBe('pending');
    time.now += 1;
    expect(await chain.head()).toEqual({ height: height + 1n, finalHeight: height - 1n, time: time.now });
    const finalAt = time.now + 2;
    expect(await chain.status(tx)).toMatchObject({ state: 'included', height: height + 1n, finalAt });
    time.now += 1;
    expect(await chain.status(tx)).toMatchObject({ state: 'included', finalAt });
    time.now += 1;
    const status = await chain.status(tx);
    expect([status.state, status.finalAt]).toEqual(['final', undefined]);
  });

  test('a broadcast answers when the transaction should be final, except for one that is delayed', async () => {
    const { chain, time } = fresh;
    const said = await chain.broadcast(await build());
    expect(said).toEqual({ result: 'accepted', finalAt: time.now + 3 });
    const stuck = await build({ to: testAddresses('erc20').stuck, sequence: 1 });
    expect(await chain.broadcast(stuck)).toEqual({ result: 'accepted' });
  });

  test('inclusion needs no read: a transaction is in the next block, not in the block of the next read', async () => {
    const { chain, time } = fresh;
    const { height } = await chain.head();
    const tx = await send();
    time.now += 86_400;
    expect(await chain.status(tx)).toMatchObject({ state: 'final', height: height + 1n });
  });

  test('a process with an older reading of the clock moves nothing back', async () => {
    const { chain, time } = fresh;
    time.now += 100;
    await send();
    const { height } = await chain.mine(1);
    time.now -= 50;
    expect((await chain.head()).height).toBe(height);
    expect((await chain.mine(1)).height).toBe(height + 1n);
  });

  test('a reorganisation with remine omits the vanishing transactions, and nothing else', async () => {
    const { chain } = fresh;
    const pay = (to: string) => {
      const transfer = { from: recipient(1), to, asset: 'USDT', amount: UNITS } as const;
      return chain.pay({ transfers: [transfer] });
    };
    const [own, other] = [recipient(2), recipient(3)];
    const vanishing = [await pay(own)];
    const kept = await pay(other);
    await chain.reorg(1, { remine: true, vanishing });
    const idsAt = async (address: string) =>
      (await chain.transfers({ address })).data.map(({ txId }) => txId);
    expect([await idsAt(own), await idsAt(other)]).toEqual([[], [kept]]);
    const balanceAt = (address: string) => chain.balance(address, 'USDT', 'tip');
    expect([await balanceAt(own), await balanceAt(other)]).toEqual([0n, UNITS]);
  });

  test('a reorganisation from a height reaches that block, however many came since it was read', async () => {
    const { chain, time } = fresh;
    const pay = async (to: string) => {
      await chain.mine(1);
      await chain.pay({ transfers: [{ from: recipient(1), to, asset: 'USDT', amount: UNITS }] });
    };
    const [below, taken] = [recipient(2), recipient(3)];
    await pay(below);
    await pay(taken);
    const [read] = (await chain.transfers({ address: taken })).data;
    time.now += 5;
    await chain.reorgFrom(read?.height ?? 0n);
    const balanceAt = (address: string) => chain.balance(address, 'USDT', 'tip');
    expect([await balanceAt(below), await balanceAt(taken)]).toEqual([UNITS, 0n]);
  });

  test('mine makes blocks without the clock and refuses invalid counts', async () => {
    const { height } = await fresh.chain.head();
    expect((await fresh.chain.mine(7)).height).toBe(height + 7n);
    for (const wrong of [0, -1, 1.5, Number.NaN]) {
      expect(() => fresh.chain.mine(wrong)).toThrow(RangeError);
      expect(() => fresh.chain.reorg(wrong)).toThrow(RangeError);
    }
  });
});

describe('the wallet', () => {
  test('each merchant and network has a wallet of its own, with an address of the network', async () => {
    const senders = new Set<string>();
    for (const network of ['erc20', ...NETWORKS] as const) {
      const chain = await start(network);
      const sender = await chain.sender('hot');
      expect(await chain.validateAddress(sender)).toMatchObject({ ok: true, canonical: sender });
      senders.add(sender);
    }
    expect(senders.size).toBe(4);
  });

  test('the faucet pays at once, finally, and once for each reference', async () => {
    const chain = await start('spl');
    const hot = await chain.hotAddress();
    const txId = await chain.fund('USDC', 5n * UNITS, 'journal-1');
    expect(await chain.fund('USDC', 5n * UNITS, 'journal-1')).toBe(txId);
    expect(await chain.balance(hot, 'USDC', 'final')).toBe(5n * UNITS);
    expect(await chain.balance(hot, 'USDT', 'final')).toBe(1_000n * UNITS);
    const { data } = await chain.transfers({ limit: 1 });
    expect(data).toMatchObject([
      { txId, from: faucetAddress('spl'), to: hot, currency: 'USDC', final: true },
    ]);
  });

  test('the special addresses are four different valid addresses on each network', async () => {
    for (const network of NETWORKS) {
      const chain = await start(network);
      const addresses = Object.values(testAddresses(chain.network));
      expect(new Set(addresses).size).toBe(4);
      for (const address of addresses) {
        expect(await chain.validateAddress(address)).toEqual({ ok: true, canonical: address, warnings: [] });
      }
    }
  });

  test('O2: bytes made for another merchant are refused', async () => {
    await start('erc20');
    const foreign = await build();
    await start('erc20');
    expect(await fresh.chain.broadcast(foreign)).toMatchObject({ result: 'rejected', code: 'wrong_chain' });
  });
});

describe('what each network imitates', () => {
  test('erc20: same spec and sequence, same bytes, at any time', async () => {
    await start('erc20');
    const before = await build({ itemIds: ['a', 'b'] });
    fresh.time.now += 500;
    expect(await build({ itemIds: ['a', 'b'] })).toEqual(before);
    expect((await build({ itemIds: ['a', 'b'], sequence: 1 })).txId).not.toBe(before.txId);
  });

  test('J3: erc20: a gap in the sequences blocks all later ones', async () => {
    await start('erc20');
    const second = await send({ itemIds: ['b'], sequence: 1 });
    await fresh.chain.mine(5);
    expect(await stateOf(second)).toBe('pending');
    const first = await send({ itemIds: ['a'], sequence: 0 });
    await fresh.chain.mine(3);
    expect([await stateOf(first), await stateOf(second)]).toEqual(['final', 'final']);
    expect(await fresh.chain.nextSequence(first.sender)).toBe('2');
  });

  test('J4: erc20: a replacement pays an eighth more; the loser is dead once the winner is final', async () => {
    await start('erc20');
    const old = await send();
    const shy = await build({ itemIds: ['instead'] });
    expect(await fresh.chain.broadcast(shy)).toMatchObject({
      code: 'replacement_underpriced',
      retryable: true,
    });
    const bump = await send({ replaces: old });
    const [paid, bid] = [old, bump].map(({ raw }) => Number(readBody(raw).fee));
    expect(bid).toBe(1.125 * (paid ?? 0));
    expect(await stateOf(old)).toBe('unknown');
    await fresh.chain.mine(2);
    expect([await stateOf(old), await stateOf(bump)]).toEqual(['unknown', 'included']);
    await fresh.chain.mine(1);
    expect([await stateOf(old), await stateOf(bump)]).toEqual(['dead', 'final']);
    expect(await fresh.chain.balance(recipient(1), 'USDT', 'tip')).toBe(UNITS);
  });

  test('erc20: an item is paid once, whatever is sent', async () => {
    await start('erc20');
    const first = await send({ itemIds: ['a', 'b'] });
    const again = await send({ itemIds: ['b', 'c', 'c'], sequence: 1 });
    const alone = await send({ itemIds: ['a'], sequence: 2 });
    await fresh.chain.mine(3);
    expect((await fresh.chain.status(first)).paidBefore).toBe(undefined);
    expect(await fresh.chain.status(again)).toMatchObject({
      state: 'final',
      itemOk: [false, true, false],
      paidBefore: [true, false, true],
      reason: 'already_paid',
    });
    expect(await fresh.chain.status(alone)).toMatchObject({
      state: 'final',
      itemOk: [false],
      paidBefore: [true],
    });
    expect(await fresh.chain.balance(recipient(1), 'USDT', 'tip')).toBe(3n * UNITS);
  });

  test('trc20: an expired transaction is refused, and dead once the final block is past it', async () => {
    await start('trc20');
    const tx = await build();
    expect(tx.validUntil).toEqual({ timeMs: (fresh.time.now + 60) * 1000 });
    fresh.time.now += 60;
    expect(await fresh.chain.broadcast(tx)).toMatchObject({ code: 'transaction_expired', retryable: false });
    expect(await stateOf(tx)).toBe('unknown');
    fresh.time.now += 3;
    expect(await stateOf(tx)).toBe('dead');
  });

  test('J2: trc20: one that was mined in time never counts as dead', async () => {
    await start('trc20');
    const tx = await send();
    fresh.time.now += 3_600;
    expect(await fresh.chain.status(tx)).toMatchObject({ state: 'final', final: true });
  });

  test('trc20: the item is part of the id: two payments of one sum at one moment are two', async () => {
    await start('trc20');
    const [one, two] = [await send({ itemIds: ['a'] }), await send({ itemIds: ['b'] })];
    expect(one.txId).not.toBe(two.txId);
    await fresh.chain.mine(1);
    expect(await fresh.chain.balance(recipient(1), 'USDT', 'tip')).toBe(2n * UNITS);
  });

  test('spl: refused after its last valid height, dead once that is final', async () => {
    await start('spl');
    const tx = await build();
    const { height } = await fresh.chain.head();
    expect(tx.validUntil).toEqual({ height: String(height + 150n) });
    await fresh.chain.mine(150);
    expect(await fresh.chain.broadcast(tx)).toMatchObject({ code: 'blockhash_not_found', retryable: false });
    await fresh.chain.mine(2);
    expect(await stateOf(tx)).toBe('unknown');
    await fresh.chain.mine(1);
    expect(await stateOf(tx)).toBe('dead');
  });

  test('spl: one item that the balance does not cover fails the group', async () => {
    await start('spl');
    const tx = await send({ itemIds: ['a', 'b'], amount: 600n * UNITS });
    await fresh.chain.mine(3);
    expect(await fresh.chain.status(tx)).toMatchObject({
      state: 'failed',
      final: true,
      itemOk: [false, false],
      reason: 'insufficient_balance',
    });
    expect(await fresh.chain.balance(tx.sender, 'USDT', 'tip')).toBe(1_000n * UNITS);
  });

  test('erc20: a batch pays as long as the balance lasts', async () => {
    await start('erc20');
    const tx = await send({ itemIds: ['a', 'b', 'c'], amount: 400n * UNITS });
    await fresh.chain.mine(3);
    expect(await fresh.chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true, true, false] });
    expect(await fresh.chain.balance(tx.sender, 'USDT', 'final')).toBe(200n * UNITS);
  });
});

describe('the stuck address', () => {
  test('erc20: it is mined an hour after its first broadcast and blocks no other transaction', async () => {
    await start('erc20');
    const stuck = await send({ itemIds: ['slow'], to: testAddresses('erc20').stuck });
    const next = await send({ itemIds: ['quick'], sequence: 1 });
    fresh.time.now += 3;
    expect([await stateOf(stuck), await stateOf(next)]).toEqual(['pending', 'final']);
    expect(await fresh.chain.nextSequence(stuck.sender)).toBe('0');
    await fresh.chain.mine(100);
    fresh.time.now += STUCK_SECONDS - 4;
    expect(await fresh.chain.broadcast(stuck)).toEqual({ result: 'known' });
    expect(await stateOf(stuck)).toBe('pending');
    fresh.time.now += 1;
    expect(await stateOf(stuck)).toBe('included');
    expect(await fresh.chain.nextSequence(stuck.sender)).toBe('2');
  });

  test('trc20: rebuilt transactions die until the hour of the item is over', async () => {
    await start('trc20');
    const order = { itemIds: ['slow'], to: testAddresses('trc20').stuck };
    const first = await send(order);
    fresh.time.now += 63;
    expect(await stateOf(first)).toBe('dead');
    const second = await send(order);
    fresh.time.now += STUCK_SECONDS - 63;
    expect(await stateOf(second)).toBe('dead');
    const third = await send(order);
    fresh.time.now += 1;
    expect(await stateOf(third)).toBe('included');
  });

  test('J5: a reorganisation of it starts no new hour', async () => {
    await start('erc20');
    const stuck = await send({ to: testAddresses('erc20').stuck });
    fresh.time.now += STUCK_SECONDS;
    expect(await stateOf(stuck)).toBe('included');
    await fresh.chain.reorg(1);
    expect(await fresh.chain.broadcast(stuck)).toMatchObject({ result: 'accepted' });
    fresh.time.now += 1;
    expect(await stateOf(stuck)).toBe('included');
  });
});
