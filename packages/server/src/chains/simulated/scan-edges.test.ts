import { randomBytes } from 'node:crypto';
import { NETWORKS, type Network } from '@florin/contract/money';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestChain, type TestChain } from '../../../../../test/chains/open-test-chain.ts';
import { formatErc20Address } from '../addresses/erc20.ts';
import { type ChainTransfer, UnbuildableTransfer } from '../port/port.ts';
import type { PaidTransfer } from './receive.ts';
import type { SimulatedChain } from './simulated-chain.ts';
import { faucetAddress, testAddresses } from './test-addresses.ts';

const UNITS = 1_000_000n;
const MANY = 10_000;

const base = new Map<Network, TestChain>();
let fresh: TestChain;

beforeAll(async () => {
  for (const network of NETWORKS) base.set(network, await openTestChain(network));
});
afterAll(() => Promise.all([...base.values()].map((chain) => chain.close())));

function start(network: Network): SimulatedChain {
  const opened = base.get(network);
  if (opened === undefined) throw new Error(`no ${network} chain is open`);
  fresh = opened.openSibling();
  return fresh.chain;
}

async function depositTo(chain: SimulatedChain, index = 0): Promise<string> {
  return (await chain.depositAddress({ index })).address;
}

const payment = (to: string, amount = UNITS): PaidTransfer => ({
  from: fresh.recipient(60),
  to,
  asset: 'USDT',
  amount,
});

const keyOf = ({ txId, index }: { txId: string; index: number }) => `${txId}:${index}`;

async function readAll(
  chain: SimulatedChain,
  watch: string[],
  from: string | null = null,
): Promise<{ transfers: ChainTransfer[]; cursor: string }> {
  const transfers: ChainTransfer[] = [];
  for (let cursor = from; ; ) {
    const answer = await chain.scan({ level: 'final', cursor, watch });
    transfers.push(...answer.transfers);
    if (answer.complete) return { transfers, cursor: answer.cursor };
    cursor = answer.cursor;
  }
}

describe.each(NETWORKS)('%s', (network) => {
  test('K6: a merchant has deposit addresses of its own, none of them used for anything else', async () => {
    const [one, other] = [start(network), start(network)];
    const ours = await Promise.all([0, 1, 2].map((index) => depositTo(one, index)));
    const theirs = await Promise.all([0, 1, 2].map((index) => depositTo(other, index)));
    const known = [...Object.values(testAddresses(network)), faucetAddress(network), await one.hotAddress()];
    expect(new Set([...ours, ...theirs, ...known]).size).toBe(6 + known.length);
  });

  test('fault 49: a transfer that a reorganisation deeper than finality takes and mines again is reported again under its id', async () => {
    const chain = start(network);
    const to = await depositTo(chain);
    const order = { transfers: [payment(to), payment(to, 2n)], reference: 'order 1' };
    const txId = await chain.pay(order);
    await chain.mine(4);
    const { transfers, cursor } = await readAll(chain, [to]);
    expect(transfers.map(keyOf)).toEqual([`${txId}:0`, `${txId}:1`]);
    expect(await chain.pay(order)).toBe(txId);
    expect(await chain.balance(to, 'USDT', 'tip')).toBe(UNITS + 2n);

    await chain.reorg(6, { remine: true });
    await chain.mine(3);
    const moved = await readAll(chain, [to], cursor);
    expect(moved.transfers.map(keyOf)).toEqual(transfers.map(keyOf));
    expect((moved.transfers[0]?.height ?? 0n) > (transfers[0]?.height ?? 0n)).toBe(true);

    await chain.reorg(6);
    expect((await readAll(chain, [to])).transfers).toEqual([]);
    expect(await chain.balance(to, 'USDT', 'tip')).toBe(0n);
    expect(await chain.pay(order)).toBe(txId);
    await chain.mine(3);
    expect((await readAll(chain, [to], moved.cursor)).transfers.map(keyOf)).toEqual(transfers.map(keyOf));
    expect(await chain.balance(to, 'USDT', 'final')).toBe(UNITS + 2n);
  });

  test('I3: while payers pay, blocks are replaced and processes scan concurrently, each final transfer is reported once', async () => {
    const chain = start(network);
    const [twin, late] = [fresh.openTwin(), fresh.openLate(3)];
    const watch = await Promise.all([0, 1, 2].map((index) => depositTo(chain, index)));
    const told: ChainTransfer[] = [];
    let isOver = false;
    const write = async (): Promise<void> => {
      for (let i = 0; i < 40; i++) {
        await (i % 3 === 0 ? late : twin).pay({ transfers: watch.map((to) => payment(to)) });
        fresh.time.now += i % 2;
        if (i % 5 === 0) await twin.mine(2);
        if (i % 7 === 0) await twin.reorg(2, { remine: i % 2 === 0 });
      }
      await twin.mine(3);
      isOver = true;
    };
    const read = async (): Promise<void> => {
      let cursor: string | null = null;
      for (let last = false; !last; ) {
        last = isOver;
        const answer = await readAll(chain, watch, cursor);
        told.push(...answer.transfers);
        cursor = answer.cursor;
      }
    };
    await Promise.all([write(), read()]);
    const { transfers } = await readAll(chain, watch);
    expect(transfers.length).toBeGreaterThan(30);
    expect(told).toEqual(transfers);
  });
});

test('fault 65: ten thousand addresses are watched at once, dust on each of them', async () => {
  const chain = start('erc20');
  const watch = Array.from({ length: MANY }, () => formatErc20Address(randomBytes(20)));
  for (let at = 0; at < MANY; at += 1_000) {
    await chain.pay({ transfers: watch.slice(at, at + 1_000).map((to) => payment(to, 1n)) });
  }
  const tip = await chain.scan({ level: 'tip', cursor: null, watch });
  expect([tip.transfers.length, tip.complete]).toEqual([MANY, true]);
  await chain.mine(3);
  const { transfers } = await readAll(chain, watch);
  expect(transfers.map(({ to }) => to)).toEqual(watch);
  const { balances } = await chain.balances(watch, 'USDT', 'final');
  expect(balances.size).toBe(MANY);
});

test('K4: the chain’s list shows transfers of unlisted tokens and transfers of zero', async () => {
  const chain = start('spl');
  const to = await depositTo(chain);
  const fake = { from: fresh.recipient(61), to, asset: null, token: 'USDT', amount: 5n } as const;
  await chain.pay({ transfers: [fake, payment(to, 0n)] });
  await chain.mine(1);
  await chain.reorg(2, { remine: true });
  const { data } = await chain.transfers({ address: to });
  expect(data).toMatchObject([
    { currency: 'USDT', amount: 0n, index: 1 },
    { currency: null, amount: 5n, index: 0, from: fake.from },
  ]);
  await chain.reorg(1);
  expect((await chain.transfers({ address: to })).data).toEqual([]);
});

test('payments need addresses of the network and an amount', async () => {
  const chain = start('erc20');
  const good = payment(await depositTo(chain));
  for (const wrong of [
    { ...good, to: 'x' },
    { ...good, from: `${good.from}0` },
  ]) {
    await expect(chain.pay({ transfers: [wrong] })).rejects.toThrow(UnbuildableTransfer);
  }
  for (const amount of [-1n, 2n ** 63n]) {
    await expect(chain.pay({ transfers: [{ ...good, amount }] })).rejects.toThrow(RangeError);
  }
  await expect(chain.pay({ transfers: [] })).rejects.toThrow(RangeError);
  await chain.pay({ transfers: [{ ...good, to: good.to.toLowerCase() }] });
  expect((await chain.scan({ level: 'tip', cursor: null, watch: [good.to] })).transfers).toHaveLength(1);
});

test('the time of a transfer is that of its block', async () => {
  const chain = start('trc20');
  await chain.fund('USDT', UNITS);
  const to = await depositTo(chain);
  const paidAt = fresh.time.now;
  await chain.pay({ transfers: [payment(to)] });
  fresh.time.now += 100;
  const sentAt = fresh.time.now;
  await fresh.send({ to });
  fresh.time.now += 100;
  const { transfers } = await readAll(chain, [to]);
  expect(transfers.map(({ time }) => time)).toEqual([paidAt, sentAt + 1]);
  await chain.reorg(1_000, { remine: true });
  const { transfers: moved } = await chain.scan({ level: 'tip', cursor: null, watch: [to] });
  expect(moved.map(({ time }) => time)).toEqual([fresh.time.now]);
});

test('the faucet pays into a final block that was read already, and is found', async () => {
  const chain = start('erc20');
  const hot = await chain.hotAddress();
  await chain.fund('USDT', UNITS);
  const first = await readAll(chain, [hot]);
  await chain.fund('USDT', UNITS);
  const second = await readAll(chain, [hot], first.cursor);
  expect([first.transfers.length, second.transfers.length]).toEqual([1, 1]);
});

test('a cursor ahead of the chain waits for it', async () => {
  const chain = start('erc20');
  const to = await depositTo(chain);
  const { finalHeight } = await chain.head();
  const cursor = await chain.cursorAt(finalHeight + 50n);
  const answer = await chain.scan({ level: 'final', cursor, watch: [to] });
  expect(answer).toMatchObject({ transfers: [], cursor, complete: true });
  await chain.mine(50);
  await chain.pay({ transfers: [payment(to)] });
  await chain.mine(3);
  expect((await readAll(chain, [to], cursor)).transfers).toHaveLength(1);
});
