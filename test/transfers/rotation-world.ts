import type { Asset } from '@florin/contract/money';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { RotatedKeyRef, RotationFacts } from '../../packages/server/src/chains/port/index.ts';
import {
  ownerTasks,
  type RotationLimits,
  type RotationStep,
} from '../../packages/server/src/transfers/rotation/decide.ts';

// A world in which each step that is decided happens at once: balances follow, fees are spent, charges arrive, time passes.

export const HOT = 'present';
export const OLD = ['first', 'second'] as const;
export const FEES = { move: 150n, plain: 30n, account: 130n, ownerCall: 120n };
export const CEILING = 100_000n;
/** A dollar. */
export const DUST = 1_000_000n;

export interface World {
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

export const amount = (most: bigint) => fc.bigInt({ min: 0n, max: most });
export const units = fc.oneof(amount(10n ** 12n), amount(3_000_000n));
export const held = fc.record({ USDT: units, USDC: units });
export const worlds: fc.Arbitrary<World> = fc
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

export const factsOf = (world: World): RotationFacts => ({
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

export const limits: RotationLimits = {
  gasCeiling: CEILING,
  tankSpending: 0n,
  topUps: 0n,
  given: new Map(),
  cost: 0n,
  resting: new Set(),
  undecided: new Set(),
  held: new Set(),
  setAside: new Map(),
};
export const limitsOf = ({ given, cost }: World): RotationLimits => ({ ...limits, given, cost });

const isRotated = (to: string): to is RotatedKeyRef => to.startsWith('hot:');

/** What the step does to the world; the wallet's own fees are the most that they can be. */
export function happen(world: World, step: RotationStep): void {
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
