import { ASSETS, type Asset } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RotatedKeyRef, RotationFacts } from '../../chains/port/index.ts';
import { nextRotationStep, ownerTasks, type RotationLimits, type RotationStep, tokenIn } from './decide.ts';

// A world in which each step that is decided happens at once: balances follow, fees are spent, charges arrive, time passes.

const HOT = 'present';
const OLD = ['first', 'second'] as const;
const FEES = { move: 150n, plain: 30n, account: 130n, ownerCall: 120n };
const CEILING = 100_000n;
/** A dollar. */
const DUST = 1_000_000n;

interface World {
  native: bigint[];
  tokens: Map<Asset, bigint>[];
  presentTokens: Map<Asset, bigint>;
  presentNative: bigint;
  tank: bigint;
  owner: bigint;
  /** Outside of the signer: it pays for its calls itself. */
  isCold: boolean;
  account: 'none' | 'missing' | 'open';
  operator: string;
  home: string;
  nextHome: string | null;
  topUpMax: bigint | undefined;
  /** What handing a token over costs, in its units. */
  cost: bigint;
  given: Map<RotatedKeyRef | 'owner', bigint>;
  refused: { epoch: number; asset: Asset }[];
  finalTime: number;
}

const amount = (most: bigint) => fc.bigInt({ min: 0n, max: most });
const units = fc.oneof(amount(10n ** 12n), amount(3_000_000n));
const held = fc.record({ USDT: units, USDC: units });
const worlds: fc.Arbitrary<World> = fc
  .record({
    count: fc.integer({ min: 1, max: 2 }),
    native: fc.array(amount(2_000n), { minLength: 2, maxLength: 2 }),
    tokens: fc.array(held, { minLength: 2, maxLength: 2 }),
    owner: amount(1_000n),
    account: fc.constantFrom('none', 'missing', 'open'),
    isNamed: fc.boolean(),
    isCold: fc.boolean(),
    topUpMax: fc.option(fc.bigInt({ min: 300n, max: 10_000n }), { nil: undefined }),
    cost: amount(2_000_000n),
  })
  .map(({ count, native, tokens, owner, account, isNamed, isCold, topUpMax, cost }) => ({
    isCold,
    cost,
    given: new Map(),
    refused: [],
    finalTime: 0,
    native: native.slice(0, count),
    tokens: tokens.slice(0, count).map(
      (one) =>
        new Map<Asset, bigint>([
          ['USDT', one.USDT],
          ['USDC', one.USDC],
        ]),
    ),
    presentTokens: new Map(),
    presentNative: 0n,
    tank: 1_000_000n,
    owner,
    account,
    operator: isNamed ? HOT : OLD[0],
    home: isNamed ? HOT : OLD[0],
    nextHome: null,
    topUpMax,
  }));

const factsOf = (world: World): RotationFacts => ({
  hot: HOT,
  wallets: world.tokens.map((tokens, epoch) => ({
    keyRef: `hot:${epoch}`,
    address: OLD[epoch] ?? '',
    nextSequence: 0n,
    native: world.native[epoch] ?? 0n,
    tokens,
    refused: new Set(world.refused.filter((one) => one.epoch === epoch).map(({ asset }) => asset)),
    finalTokens: tokens,
  })),
  collector:
    world.account === 'none'
      ? null
      : {
          isMissing: world.account === 'missing',
          operator: world.account === 'missing' ? '' : world.operator,
          home: world.account === 'missing' ? '' : world.home,
          nextHome: world.nextHome === null ? null : { address: world.nextHome, movesAt: 1 },
          owner: { address: 'owner', nextSequence: 0n, native: world.owner, isCold: world.isCold },
        },
  tank: {
    address: 'tank',
    nextSequence: 0n,
    native: world.tank,
    ...(world.topUpMax === undefined ? {} : { topUpMax: world.topUpMax }),
  },
  finalTime: world.finalTime,
  fees: FEES,
});

const limits: RotationLimits = {
  gasCeiling: CEILING,
  tankSpending: 0n,
  topUps: 0n,
  given: new Map(),
  cost: 0n,
  resting: new Set(),
  undecided: new Set(),
  held: new Set(),
  unpaid: new Set(),
};
const limitsOf = ({ given, cost }: World): RotationLimits => ({ ...limits, given, cost });
const decide = (world: World) => nextRotationStep(factsOf(world), limitsOf(world), false);

const isRotated = (to: string): to is RotatedKeyRef => to.startsWith('hot:');

/** What the step does to the world; the wallet's own fees are the most that they can be. */
function happen(world: World, step: RotationStep): void {
  if (step.do !== 'move') {
    if (step.do === 'wait' && step.reason === 'owner') nameByOwner(world);
    if (step.do === 'wait' && step.reason === 'home') world.home = world.nextHome ?? world.home;
    if (step.do === 'wait' && step.reason === 'final') world.finalTime += 1;
    // Fees fall.
    if (step.do === 'wait' && step.reason === 'dear') world.cost /= 2n;
    return;
  }
  const { by, movement } = step;
  if (by === 'tank') {
    world.tank -= FEES.account;
    if (movement.kind === 'account') world.account = 'open';
    if (movement.kind === 'gas') {
      world.tank -= movement.amount;
      const { to = 'owner' } = movement;
      if (to === 'owner' || isRotated(to)) world.given.set(to, (world.given.get(to) ?? 0n) + movement.amount);
      if (movement.to === 'owner') {
        expect(world.isCold).toBe(false);
        world.owner += movement.amount;
      } else {
        const epoch = Number(movement.to?.slice(4));
        world.native[epoch] = (world.native[epoch] ?? 0n) + movement.amount;
      }
    }
    return;
  }
  const epoch = Number(by.slice(4));
  const tokens = world.tokens[epoch] ?? new Map();
  expect(movement.kind).toBe('move');
  if (movement.kind !== 'move') return;
  const fee = movement.asset === null ? FEES.plain : FEES.move;
  const spent = fee + (movement.asset === null ? movement.amount : 0n);
  // No transaction without cover.
  expect(world.native[epoch]).toBeGreaterThanOrEqual(spent);
  world.native[epoch] = (world.native[epoch] ?? 0n) - spent;
  if (movement.asset === null) {
    world.presentNative += movement.amount;
    return;
  }
  expect(tokens.get(movement.asset)).toBe(movement.amount);
  tokens.set(movement.asset, 0n);
  world.presentTokens.set(movement.asset, (world.presentTokens.get(movement.asset) ?? 0n) + movement.amount);
}

function nameByOwner(world: World): void {
  for (const what of ownerTasks(factsOf(world))) {
    if (!world.isCold) {
      expect(world.owner).toBeGreaterThanOrEqual(FEES.ownerCall);
      world.owner -= FEES.ownerCall;
    }
    if (what === 'operator') world.operator = HOT;
    else world.nextHome = HOT;
  }
}

const sumOf = (world: World) =>
  [...world.tokens, world.presentTokens].flatMap((one) => [...one.values()]).reduce((a, b) => a + b, 0n);

test('every rotation comes to its end with all coins but dust in the present wallet, whatever there was and arrives', () => {
  fc.assert(
    fc.property(worlds, fc.array(units, { maxLength: 4 }), (world, arriving) => {
      let total = sumOf(world);
      const waiting = [...arriving];
      for (let turns = 0; ; turns++) {
        expect(turns).toBeLessThan(100);
        const step = decide(world);
        if (step.do === 'end') break;
        happen(world, step);
        // Charges reach the old wallet for as long as it is the home.
        const charge = world.account === 'open' && world.home !== HOT ? (waiting.pop() ?? 0n) : 0n;
        const [first] = world.tokens;
        first?.set('USDT', (first.get('USDT') ?? 0n) + charge);
        total += charge;
        expect(sumOf(world)).toBe(total);
      }
      // Charges that reached the old wallet are in the final block that was read.
      expect(world.finalTime).toBe(world.nextHome === null ? 0 : 1);
      const most = world.cost < DUST ? world.cost : DUST;
      for (const tokens of world.tokens)
        for (const left of tokens.values()) expect(left).toBeLessThanOrEqual(most);
      if (world.account !== 'none')
        expect([world.account, world.operator, world.home]).toEqual(['open', HOT, HOT]);
      for (const native of world.native) expect(native).toBeLessThanOrEqual(10n * FEES.plain);
    }),
  );
});

test('nothing is moved while a movement is on its way, and the tank gives no more than it has and may', () => {
  fc.assert(
    fc.property(worlds, amount(2_000n), amount(1_000n), amount(1_000n), (world, tank, gasCeiling, left) => {
      const known = factsOf({ ...world, tank });
      const facts = { ...known, tank: { ...known.tank, topUpsLeft: left } };
      expect(nextRotationStep(facts, limits, true)).toEqual({ do: 'wait', reason: 'moving' });
      const step = nextRotationStep(facts, { ...limits, gasCeiling, tankSpending: 100n, topUps: 7n }, false);
      if (step.do !== 'move' || step.by !== 'tank') return;
      const given = step.movement.kind === 'gas' ? step.movement.amount : 0n;
      expect(given + FEES.plain).toBeLessThanOrEqual(tank - 100n);
      expect(given).toBeLessThanOrEqual(gasCeiling);
      expect(given).toBeLessThanOrEqual(left > 7n ? left - 7n : 0n);
      expect(given).toBeLessThanOrEqual(world.topUpMax ?? tank);
    }),
  );
});

test('whoever takes the ether of a rotated wallet again and again gets no more than the ceiling, and none for dust', () => {
  fc.assert(
    fc.property(worlds, fc.boolean(), (world, isDust) => {
      if (isDust)
        for (const tokens of world.tokens)
          for (const [asset, left] of tokens) tokens.set(asset, left < world.cost ? left : world.cost);
      for (let turns = 0; turns < 2_000; turns++) {
        world.native = world.native.map(() => 0n);
        const step = decide(world);
        if (step.do !== 'move' || step.by !== 'tank') break;
        world.tank = 1_000_000n;
        happen(world, step);
      }
      for (const [to, sum] of world.given)
        expect(sum).toBeLessThanOrEqual(isDust && to !== 'owner' ? 0n : CEILING);
    }),
  );
});

const blocked = fc.subarray(
  [0, 1].flatMap((epoch) => ASSETS.map((asset) => ({ epoch, asset }))),
  { minLength: 1 },
);

test('a token that is refused, or whose moves revert, stays where it is and costs nothing; the others go', () => {
  fc.assert(
    fc.property(worlds, blocked, fc.boolean(), (world, list, isResting) => {
      if (!isResting) world.refused = list;
      const names = list.map(({ epoch, asset }) => tokenIn(OLD[epoch] ?? '', asset));
      const resting = new Set(isResting ? names : []);
      const isBlocked = (epoch: number, asset: Asset) =>
        list.some((one) => one.epoch === epoch && one.asset === asset);
      const before = world.tokens.map((tokens) => new Map(tokens));
      let step: RotationStep;
      for (let turns = 0; ; turns++) {
        expect(turns).toBeLessThan(100);
        step = nextRotationStep(factsOf(world), { ...limitsOf(world), resting }, false);
        if (step.do === 'end' || (step.do === 'wait' && step.reason === 'refused')) break;
        happen(world, step);
      }
      const most = world.cost < DUST ? world.cost : DUST;
      for (const [epoch, tokens] of world.tokens.entries())
        for (const [asset, left] of tokens)
          if (isBlocked(epoch, asset)) expect(left).toBe(before[epoch]?.get(asset));
          else expect(left).toBeLessThanOrEqual(step.do === 'end' ? most : world.cost);
      const isHeld = world.tokens.some((tokens, epoch) =>
        [...tokens].some(([asset, left]) => isBlocked(epoch, asset) && left > most),
      );
      expect(step.do === 'end').toBe(!isHeld);
    }),
  );
});

test('of each token one move at a time, until it is final', () => {
  fc.assert(
    fc.property(worlds, blocked, (world, list) => {
      const undecided = new Set(list.map(({ epoch, asset }) => tokenIn(OLD[epoch] ?? '', asset)));
      for (let turns = 0; turns < 100; turns++) {
        const step = nextRotationStep(factsOf(world), { ...limitsOf(world), undecided }, false);
        if (step.do === 'move' && step.by !== 'tank' && step.movement.kind === 'move') {
          const { asset } = step.movement;
          const address = OLD[Number(step.by.slice(4))] ?? '';
          if (asset !== null) expect(undecided).not.toContain(tokenIn(address, asset));
        }
        if (step.do === 'end') break;
        happen(world, step);
      }
      const most = world.cost < DUST ? world.cost : DUST;
      const isLeft = world.tokens.some((tokens) => [...tokens.values()].some((left) => left > most));
      expect(nextRotationStep(factsOf(world), { ...limitsOf(world), undecided }, false)).toEqual(
        isLeft ? { do: 'wait', reason: 'final' } : { do: 'end' },
      );
    }),
  );
});

const KEEPING = {
  taken: { unpaid: new Set([OLD[0]]) },
  gas_ceiling: { given: new Map([['hot:0' as const, CEILING]]) },
  held: { held: new Set(['hot:0' as const]) },
  refused: { resting: new Set([tokenIn(OLD[0], 'USDT')]) },
  tank_low: { tankSpending: 10n ** 9n },
  top_ups_used: { topUps: 10n ** 9n },
} satisfies Partial<Record<string, Partial<RotationLimits>>>;

test('one wallet that keeps its coins holds up no other, and the next rotation waits only for what may pass', () => {
  const reasons = fc.constantFrom('taken', 'gas_ceiling', 'held', 'refused', 'tank_low', 'top_ups_used');
  fc.assert(
    fc.property(worlds, held, reasons, fc.boolean(), (some, other, reason, isHomeLeft) => {
      const world: World = {
        ...some,
        account: 'open',
        operator: HOT,
        home: isHomeLeft ? OLD[0] : HOT,
        nextHome: HOT,
        finalTime: 1,
        cost: 0n,
        native: [0n, 10n * FEES.move],
        tokens: [new Map([['USDT', 1n]]), new Map(Object.entries(other) as [Asset, bigint][])],
      };
      let step: RotationStep;
      for (let turns = 0; ; turns++) {
        expect(turns).toBeLessThan(100);
        const facts = factsOf(world);
        const tank = { ...facts.tank, topUpsLeft: 10n ** 6n };
        step = nextRotationStep({ ...facts, tank }, { ...limitsOf(world), ...KEEPING[reason] }, false);
        if (step.do !== 'move') break;
        expect(step.by).toBe('hot:1');
        happen(world, step);
      }
      // Charges may come while home has not moved, and what the tank lacks or the signer refuses people can mend.
      const mayPass = isHomeLeft || ['held', 'tank_low', 'top_ups_used'].includes(reason);
      expect(step).toEqual({ do: 'wait', reason, isOver: !mayPass });
      expect(world.tokens[0]?.get('USDT')).toBe(1n);
      expect([...(world.tokens[1]?.values() ?? [])]).toEqual([0n, 0n]);
      if (!isHomeLeft) expect(world.native[1]).toBeLessThanOrEqual(10n * FEES.plain);
    }),
  );
});

test('what one wallet was robbed of keeps no ether from another, and coins do not wait for the account', () => {
  fc.assert(
    fc.property(worlds, fc.constantFrom('missing', 'open'), (some, account) => {
      const one = () => new Map<Asset, bigint>([['USDT', 1n]]);
      const world = { ...some, account, cost: 0n, owner: 0n, native: [0n, 0n], tokens: [one(), one()] };
      const robbed = ['hot:0', 'owner'] as const;
      const given = new Map(robbed.map((to) => [to, CEILING]));
      const isRobbed = { ...limitsOf(world), given };
      // The account and its owner come first, where the tank can.
      const first = nextRotationStep(factsOf(world), isRobbed, false);
      if (account === 'missing') expect(first).toMatchObject({ do: 'move', movement: { kind: 'account' } });
      else expect(first).toMatchObject({ do: 'move', by: 'tank', movement: { kind: 'gas', to: 'hot:1' } });
      // Where it cannot, coins leave with the ether that their wallet has.
      const rich = factsOf({ ...world, native: [0n, FEES.move] });
      expect(nextRotationStep(rich, { ...isRobbed, tankSpending: 10n ** 9n }, false)).toMatchObject({
        do: 'move',
        by: 'hot:1',
      });
    }),
  );
});

test('the owner names operator and home once each', () => {
  const collector = factsOf({
    native: [],
    tokens: [],
    presentTokens: new Map(),
    presentNative: 0n,
    tank: 0n,
    owner: 0n,
    isCold: false,
    account: 'open',
    operator: OLD[0],
    home: OLD[0],
    nextHome: null,
    topUpMax: undefined,
    cost: 0n,
    given: new Map(),
    refused: [],
    finalTime: 0,
  }).collector;
  if (collector === null) throw new Error('the world has a collector');
  const tasks = (changes: Partial<typeof collector>) =>
    ownerTasks({ hot: HOT, collector: { ...collector, ...changes } });
  expect(tasks({})).toEqual(['operator', 'home']);
  expect(tasks({ operator: HOT })).toEqual(['home']);
  expect(tasks({ nextHome: { address: HOT, movesAt: 5 } })).toEqual(['operator']);
  // Somebody has named another home since.
  expect(tasks({ home: HOT, operator: HOT, nextHome: { address: OLD[1], movesAt: 5 } })).toEqual(['home']);
  expect(tasks({ isMissing: true })).toEqual([]);
  expect(ownerTasks({ hot: HOT, collector: null })).toEqual([]);
});
