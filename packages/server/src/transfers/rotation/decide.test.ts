import { ASSETS, type Asset } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amount,
  CEILING,
  DUST,
  FEES,
  factsOf,
  HOT,
  happen,
  limits,
  limitsOf,
  OLD,
  units,
  type World,
  worlds,
} from '../../../../../test/transfers/rotation-world.ts';
import { nextRotationStep, ownerTasks, type RotationStep, tokenIn } from './decide.ts';

const decide = (world: World) => nextRotationStep(factsOf(world), limitsOf(world), false);

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
      // Of the ether of each top-up he takes just so much that another one is wanted.
      let turns = 0;
      for (; turns < 2_000; turns++) {
        world.native = world.native.map((native) => (native < FEES.move ? native : FEES.move - 1n));
        const step = decide(world);
        if (step.do !== 'move' || step.by !== 'tank') break;
        world.tank = 1_000_000n;
        happen(world, step);
      }
      const most = 50n + CEILING / (world.topUpMax ?? CEILING);
      expect(BigInt(turns)).toBeLessThanOrEqual(4n * most);
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
