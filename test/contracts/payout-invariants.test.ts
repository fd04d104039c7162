import fc from 'fast-check';
import { type Address, encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchPayout, TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
import {
  account,
  by,
  type Contract,
  freshAddress,
  GAS_MAX,
  hasAnvil,
  LocalNode,
  OWNER,
} from './local-node.ts';
import { groupId, payoutOutcomes } from './outcomes.ts';

const FUNDS = 1_000n;
const SENDERS = [account(1), account(2), account(3)];
/** Has funds and lets the contract spend all of them, and never calls it. */
const BYSTANDER = account(4);
const STRANGER = account(5);
/** Both sides of a word's edge. */
const INDEXES = [0, 1, 255, 256, 257, 70_000];
const RECIPIENTS = [
  freshAddress(1),
  freshAddress(2),
  SENDERS[0]?.address ?? freshAddress(3),
  BYSTANDER.address,
];

type Token = 'USDT' | 'USDC';
type Step =
  | {
      do: 'pay';
      token: Token;
      sender: number;
      group: number;
      items: { index: number; to: number; amount: number }[];
    }
  | { do: 'pause'; token: Token; on: boolean }
  | { do: 'list'; token: Token; who: number; on: boolean }
  | { do: 'allow'; token: Token; sender: number; amount: number }
  | { do: 'fee'; on: boolean }
  | { do: 'noise'; data: Uint8Array };

const token = fc.constantFrom<Token>('USDT', 'USDC');
const sender = fc.nat({ max: SENDERS.length - 1 });
const items = fc.array(
  fc.record({
    index: fc.constantFrom(...INDEXES),
    to: fc.nat({ max: RECIPIENTS.length - 1 }),
    amount: fc.constantFrom(0, 1, 10, 100, 700),
  }),
  { maxLength: 12 },
);
const pay: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('pay'),
  token,
  sender,
  group: fc.nat({ max: 1 }),
  items,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: pay },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause'), token, on: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('list'),
      token,
      who: fc.nat({ max: SENDERS.length + RECIPIENTS.length }),
      on: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('allow'), token, sender, amount: fc.constantFrom(0, 50, 5_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fee'), on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('noise'), data: fc.uint8Array({ maxLength: 200 }) }),
  },
);

describe.skipIf(!hasAnvil())('BatchPayout under random calls', () => {
  let node: LocalNode;
  let payout: Contract<typeof BatchPayout.abi>;
  let tokens: Record<Token, Contract<typeof TestUSDT.abi>>;

  beforeAll(async () => {
    node = await LocalNode.start();
    payout = await node.deploy(BatchPayout);
    const usdc = await node.deployUsdc();
    tokens = { USDT: await node.deployUsdt(), USDC: node.at(TestUSDT, usdc.address) };
    for (const one of Object.values(tokens)) {
      for (const holder of [...SENDERS, BYSTANDER]) {
        await node.mined(one.write.mint([holder.address, FUNDS], by(OWNER)));
        await node.mined(one.write.approve([payout.address, 10n ** 12n], by(holder)));
      }
    }
  });
  afterAll(() => node?.stop());

  const listable = () => [...SENDERS.map(({ address }) => address), ...RECIPIENTS, payout.address];

  /** Everything that the invariants speak of, read from the chain at once. */
  async function view() {
    const holders = [
      ...new Set([...SENDERS.map(({ address }) => address), ...RECIPIENTS, OWNER.address, payout.address]),
    ];
    const balances = new Map<string, bigint>();
    for (const [name, one] of Object.entries(tokens)) {
      const read = await Promise.all(holders.map((holder) => one.read.balanceOf([holder])));
      for (const [place, holder] of holders.entries()) balances.set(`${name} ${holder}`, read[place] ?? 0n);
    }
    const keys = SENDERS.flatMap((one) =>
      [0, 1].flatMap((group) =>
        INDEXES.map((index) => [one.address, groupId(String(group)), BigInt(index)] as const),
      ),
    );
    const bits = await Promise.all(keys.map((key) => payout.read.isPaid(key)));
    return { balances, paid: new Set(keys.filter((_, place) => bits[place]).map((key) => key.join(' '))) };
  }

  async function prepare(one: Exclude<Step, { do: 'pay' }>): Promise<void> {
    switch (one.do) {
      case 'pause': {
        const { write, read } = tokens[one.token];
        if ((await read.paused()) !== one.on)
          await node.mined(one.on ? write.pause(by(OWNER)) : write.unpause(by(OWNER)));
        return;
      }
      case 'list': {
        const who = listable()[one.who] ?? STRANGER.address;
        const usdc = node.at(TestUSDC, tokens.USDC.address);
        if (one.token === 'USDT') {
          await node.mined(
            one.on
              ? tokens.USDT.write.addBlackList([who], by(OWNER))
              : tokens.USDT.write.removeBlackList([who], by(OWNER)),
          );
        } else
          await node.mined(
            one.on ? usdc.write.blacklist([who], by(OWNER)) : usdc.write.unBlacklist([who], by(OWNER)),
          );
        return;
      }
      case 'allow': {
        const from = SENDERS[one.sender] ?? STRANGER;
        const { write } = tokens[one.token];
        // With a limit of their own these may revert: USDC refuses a listed or paused approval.
        await node.mined(write.approve([payout.address, 0n], by(from, 200_000n)));
        await node.mined(write.approve([payout.address, BigInt(one.amount)], by(from, 200_000n)));
        return;
      }
      case 'fee':
        await node.mined(tokens.USDT.write.setParams([one.on ? 19n : 0n, one.on ? 49n : 0n], by(OWNER)));
        return;
      case 'noise': {
        const data: Hex = `0x${Buffer.from(one.data).toString('hex')}`;
        await node.mined(
          node.client.sendTransaction({ ...by(STRANGER, 500_000n), to: payout.address, data }),
        );
      }
    }
  }

  async function payAndCheck(one: Extract<Step, { do: 'pay' }>): Promise<void> {
    const from = SENDERS[one.sender] ?? STRANGER;
    const group = groupId(String(one.group));
    const before = await view();
    const payments = one.items.map(({ index, to, amount }) => ({
      index: BigInt(index),
      to: RECIPIENTS[to] ?? freshAddress(9),
      amount: BigInt(amount),
    }));
    const receipt = await node.mined(
      payout.write.pay([tokens[one.token].address, group, payments], by(from, GAS_MAX)),
    );
    const after = await view();
    const outcomes = payoutOutcomes(receipt);
    const key = (index: bigint) => [from.address, group, index].join(' ');

    expect(receipt.status).toBe('success');
    // One event for each item, in order.
    expect(outcomes.map((outcome) => outcome.split(' ')[0])).toEqual(
      payments.map(({ index }) => String(index)),
    );
    // `paid` exactly once, `before` exactly where it was; what failed has no bit.
    const paid = new Set(before.paid);
    for (const [place, { index }] of payments.entries()) {
      const outcome = outcomes[place]?.split(' ')[1];
      expect(outcome === 'before').toBe(paid.has(key(index)));
      if (outcome === 'paid') paid.add(key(index));
    }
    expect(after.paid).toEqual(paid);
    // The sender lost what was paid to others, and nobody else lost anything.
    const spent = new Map<string, bigint>();
    for (const [place, { to, amount }] of payments.entries()) {
      if (outcomes[place]?.endsWith('paid')) spent.set(to, (spent.get(to) ?? 0n) + amount);
    }
    const toOthers = [...spent]
      .filter(([to]) => to !== from.address)
      .reduce((sum, [, amount]) => sum + amount, 0n);
    for (const [holder, held] of before.balances) {
      const lost = held - (after.balances.get(holder) ?? 0n);
      const name = `${one.token} ${from.address}`;
      if (holder === name) expect(lost).toBeGreaterThanOrEqual(toOthers);
      else expect(lost).toBeLessThanOrEqual(0n);
    }
    const sum = (balances: Map<string, bigint>) => [...balances.values()].reduce((all, one) => all + one, 0n);
    expect(sum(after.balances)).toBe(sum(before.balances));
    expect(after.balances.get(`${one.token} ${payout.address}`)).toBe(0n);
  }

  test("no bit is cleared, no item is paid twice, nobody else's coins move", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const snapshot = await node.client.snapshot();
        try {
          for (const one of steps) await (one.do === 'pay' ? payAndCheck(one) : prepare(one));
        } finally {
          await node.client.revert({ id: snapshot });
        }
      }),
      { numRuns: 15, endOnFailure: true },
    );
  }, 180_000);

  test('calls of anybody with any data leave the coins of those who allowed them alone', async () => {
    const victim = BYSTANDER.address;
    const data = (payments: { index: bigint; to: Address; amount: bigint }[]) =>
      encodeFunctionData({
        abi: BatchPayout.abi,
        functionName: 'pay',
        args: [tokens.USDT.address, groupId('0'), payments],
      });
    const stolen = data([{ index: 0n, to: STRANGER.address, amount: 1n }]);
    await node.mined(
      node.client.sendTransaction({ ...by(STRANGER, 1_000_000n), to: payout.address, data: stolen }),
    );
    // The victim's address appended, as a forwarder would do.
    const forwarded: Hex = `${stolen}${victim.slice(2)}`;
    await node.mined(
      node.client.sendTransaction({ ...by(STRANGER, 1_000_000n), to: payout.address, data: forwarded }),
    );
    expect(await tokens.USDT.read.balanceOf([victim])).toBe(FUNDS);
    expect(await tokens.USDT.read.balanceOf([STRANGER.address])).toBe(0n);
  });
});
