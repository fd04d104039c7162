import fc from 'fast-check';
import type { Address, Hex, TransactionReceipt } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { account, by, freshAddress, hasAnvil, OWNER } from './local-node.ts';
import {
  CAP,
  type ChargeArgs,
  CollectorWorld,
  DAY,
  FUNDS,
  home,
  type Mandate,
  nameOf,
  operator,
  owner,
  payer,
  stranger,
} from './mandates.ts';

/** Lets the collector take everything, and never signs a mandate. */
const BYSTANDER = account(6);
/** Charges first, then whoever the owner names; the payer and a stranger try it too. */
const CALLERS = [operator, owner, payer, stranger];
const HOMES = [home, freshAddress(2)];
const GAS = 1_000_000n;
const WHERE_COINS_MAY_BE = [payer.address, BYSTANDER.address, ...HOMES, OWNER.address, stranger.address];

const mandate = fc.nat({ max: 2 });
const caller = fc.nat({ max: CALLERS.length - 1 });
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('charge' as const),
      mandate,
      caller: fc.constantFrom(0, 0, 0, 0, 1, 3),
      id: fc.nat({ max: 30 }),
      subscription: fc.nat({ max: 2 }),
      amount: fc.constantFrom(0n, 1n, CAP / 2n, CAP / 2n, CAP, CAP + 1n),
      /** Seconds from now. */
      begins: fc.oneof(
        fc.constantFrom(0, -DAY, -7 * DAY, -8 * DAY, DAY, DAY + 60),
        fc.integer({ min: -10 * DAY, max: 2 * DAY }),
      ),
      lasts: fc.constantFrom(DAY, DAY, DAY - 1, 2 * DAY, 9 * DAY, 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('activate' as const),
      mandate,
      caller,
      signer: fc.constantFrom(2, 2, 2, 0, 3),
      permit: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), mandate, caller }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('operator' as const), caller, to: caller }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('home' as const), caller, to: fc.nat({ max: 1 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.integer({ min: 60, max: 3 * DAY }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fee' as const), on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('noise' as const), data: fc.uint8Array({ maxLength: 200 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;
type Of<Kind extends Step['do']> = Extract<Step, { do: Kind }>;

/** What every run begins with: one charge that succeeds. */
const FIRST: Step[] = [
  { do: 'activate', mandate: 0, caller: 3, signer: 2, permit: false },
  { do: 'charge', mandate: 0, caller: 0, id: 0, subscription: 0, amount: CAP / 2n, begins: 0, lasts: DAY },
];
const RUNS = 12;

/** What the payer, owner and operator have done, kept without the contract. */
interface History {
  operator: Address;
  homes: { from: number; home: Address }[];
  active: Set<number>;
  revoked: Set<number>;
  ids: Set<Hex>;
  charges: (ChargeArgs & { mandate: number })[];
}

describe.skipIf(!hasAnvil())('Collector under random calls', () => {
  let world: CollectorWorld;
  let mandates: Mandate[];
  let succeeded = 0;

  beforeAll(async () => {
    world = await CollectorWorld.start();
    const { usdt, collector, node } = world;
    await node.mined(usdt.write.mint([BYSTANDER.address, FUNDS], by(OWNER)));
    await node.mined(usdt.write.approve([collector.address, FUNDS], by(BYSTANDER)));
    mandates = [
      world.mandate({ period: DAY, subscriptions: 2 }),
      world.mandate({ period: DAY, salt: nameOf('second') }),
      // Its payer never signs it.
      world.mandate({ period: DAY, payer: BYSTANDER.address }),
    ];
  });
  afterAll(() => world?.node.stop());

  const balances = async () => {
    const read = await Promise.all(WHERE_COINS_MAY_BE.map((one) => world.usdt.read.balanceOf([one])));
    return new Map(WHERE_COINS_MAY_BE.map((one, i) => [one, read[i] ?? 0n]));
  };
  const mandateAt = (place: number): Mandate => mandates[place] ?? world.mandate();
  const callerAt = (place: number) => CALLERS[place] ?? stranger;
  const run = (sent: Promise<Hex>) => world.node.mined(sent);
  const homeAt = ({ homes }: History, time: number) =>
    homes.filter(({ from }) => from <= time).at(-1)?.home ?? home;

  async function activate(one: Of<'activate'>, known: History): Promise<void> {
    const it = mandateAt(one.mandate);
    const [from, signature] = [callerAt(one.caller), await world.sign(it, callerAt(one.signer))];
    const permit = { value: FUNDS, deadline: 2n ** 255n, v: 27, r: nameOf('r'), s: nameOf('s') };
    const { write } = world.collector;
    const { status } = await run(
      one.permit
        ? write.activateWithPermit([it, signature, permit], by(from, GAS))
        : write.activate([it, signature], by(from, GAS)),
    );
    if (status !== 'success') return;
    const isSigned = it.payer === payer.address && (one.signer === 2 || from === payer);
    expect(isSigned && !known.revoked.has(one.mandate) && !known.active.has(one.mandate)).toBe(true);
    known.active.add(one.mandate);
  }

  async function change(one: Of<'operator' | 'home' | 'revoke'>, known: History): Promise<void> {
    const from = callerAt(one.caller);
    const { write } = world.collector;
    if (one.do === 'revoke') {
      const it = mandateAt(one.mandate);
      const { status } = await run(write.revoke([it], by(from, GAS)));
      const may = from.address === it.payer || from.address === known.operator;
      expect(status === 'success').toBe(may);
      if (may) known.revoked.add(one.mandate);
      return;
    }
    if (one.do === 'operator') {
      const to = callerAt(one.to).address;
      const { status } = await run(write.setOperator([world.account, to], by(from, GAS)));
      expect(status === 'success').toBe(from === owner);
      if (from === owner) known.operator = to;
      return;
    }
    const to = HOMES[one.to] ?? home;
    const receipt = await run(write.moveHome([world.account, to], by(from, GAS)));
    expect(receipt.status === 'success').toBe(from === owner);
    if (from !== owner) return;
    const time = await world.now();
    known.homes = [...known.homes.filter((at) => at.from <= time), { from: time + 2 * DAY, home: to }];
  }

  async function charge(one: Of<'charge'>, known: History): Promise<TransactionReceipt> {
    const windowStart = (await world.now()) + one.begins;
    const args: ChargeArgs = {
      id: nameOf(`charge ${one.id}`),
      subscription: nameOf(`subscription ${one.subscription}`),
      amount: one.amount,
      windowStart,
      windowEnd: windowStart + one.lasts,
    };
    const [it, from] = [mandateAt(one.mandate), callerAt(one.caller)];
    const receipt = await world.charge(it, args, from);
    const [event] = world.events(receipt.logs);
    if (receipt.status !== 'success') return receipt;
    expect(from.address).toBe(known.operator);
    // Once: a second one with that id says so and moves nothing.
    expect(event?.eventName).toBe(known.ids.has(args.id) ? 'ChargedBefore' : 'Charged');
    if (event?.eventName !== 'Charged') return receipt;
    succeeded += 1;
    expect(known.active.has(one.mandate) && !known.revoked.has(one.mandate)).toBe(true);
    const time = await world.now();
    expect(one.lasts).toBeGreaterThanOrEqual(DAY);
    expect(windowStart).toBeLessThanOrEqual(time + DAY);
    expect(args.windowEnd).toBeGreaterThan(time - 7 * DAY);
    known.ids.add(args.id);
    known.charges.push({ ...args, mandate: one.mandate });
    return receipt;
  }

  /** Whatever has happened: nobody but the payer has paid, nowhere but home, no more than was signed. */
  function assertCaps({ charges }: Pick<History, 'charges'>): void {
    for (const [key, own] of Map.groupBy(charges, (one) => `${one.mandate} ${one.subscription}`)) {
      for (const { windowStart: moment } of own) {
        const around = own.filter((one) => one.windowStart <= moment && moment < one.windowEnd);
        const sum = around.reduce((all, one) => all + one.amount, 0n);
        expect(sum, key).toBeLessThanOrEqual(CAP);
      }
    }
    for (const [place, own] of Map.groupBy(charges, (one) => one.mandate)) {
      const served = new Set(own.map(({ subscription }) => subscription));
      expect(served.size).toBeLessThanOrEqual(mandateAt(place).subscriptions);
    }
  }

  async function perform(one: Step, known: History): Promise<void> {
    const before = await balances();
    const made = known.charges.length;
    switch (one.do) {
      case 'charge':
        await charge(one, known);
        break;
      case 'activate':
        await activate(one, known);
        break;
      case 'wait':
        await world.passTime(one.seconds);
        break;
      case 'fee':
        await run(world.usdt.write.setParams([one.on ? 19n : 0n, one.on ? 49n : 0n], by(OWNER)));
        break;
      case 'noise': {
        const data: Hex = `0x${Buffer.from(one.data).toString('hex')}`;
        const call = { ...by(stranger, GAS), to: world.collector.address, data };
        await run(world.node.client.sendTransaction(call));
        break;
      }
      case 'operator':
      case 'home':
      case 'revoke':
        await change(one, known);
    }
    const after = await balances();
    const gained = (who: Address) => (after.get(who) ?? 0n) - (before.get(who) ?? 0n);
    const amount = known.charges.length > made ? (known.charges.at(-1)?.amount ?? 0n) : 0n;
    const target = homeAt(known, await world.now());
    expect(gained(payer.address)).toBe(-amount);
    // The token's owner takes the fee.
    expect(gained(target) + gained(OWNER.address)).toBe(amount);
    for (const who of [...HOMES, BYSTANDER.address, stranger.address]) {
      if (who !== target) expect(gained(who), who).toBe(0n);
    }
    expect(await world.usdt.read.balanceOf([world.collector.address])).toBe(0n);
    assertCaps(known);
  }

  test('windows that shift, stretch and come late never add up to more than the cap', async () => {
    const quarter = DAY / 4;
    const window = fc.record({
      begins: fc.integer({ min: -16, max: 4 }),
      lasts: fc.constantFrom(4, 4, 5, 8, 12),
      amount: fc.constantFrom(0n, CAP / 2n, CAP / 2n, CAP),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(window, { minLength: 4, maxLength: 12 }), async (windows) => {
        const snapshot = await world.node.client.snapshot();
        const base = await world.now();
        const known: Pick<History, 'charges'> = { charges: [] };
        await world.activate(mandateAt(0));
        for (const { begins, lasts, amount } of windows) {
          const windowStart = base + begins * quarter;
          const args = world.chargeOf(windowStart, { amount, windowEnd: windowStart + lasts * quarter });
          const { status } = await world.charge(mandateAt(0), args);
          if (status === 'success') known.charges.push({ ...args, mandate: 0 });
          assertCaps(known);
        }
        await world.node.client.revert({ id: snapshot });
      }),
      { numRuns: 60, endOnFailure: true },
    );
  }, 300_000);

  test('the cap holds, a charge counts once, coins reach home alone, and nobody pays unasked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const snapshot = await world.node.client.snapshot();
        const known: History = {
          operator: operator.address,
          homes: [{ from: 0, home }],
          active: new Set(),
          revoked: new Set(),
          ids: new Set(),
          charges: [],
        };
        try {
          for (const one of [...FIRST, ...steps]) await perform(one, known);
        } finally {
          await world.node.client.revert({ id: snapshot });
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    // Refusing everything would hold all of it.
    expect(succeeded).toBeGreaterThanOrEqual(RUNS);
  }, 300_000);
});
