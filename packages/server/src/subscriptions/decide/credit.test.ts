import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Step, World } from '../../../../../test/subscriptions/simulated-billing.ts';
import { isFinal } from '../states.ts';
import { chargeFailed } from './charge.ts';
import type { Creation } from './creation.ts';
import { decideMandate } from './mandate.ts';

const DAY = 86_400;
const creation: Creation = {
  amount: 1_000n,
  interval: 'month',
  methodId: null,
  trialDays: 0,
  anchor: null,
  cancelAt: null,
};

/** Of which the first payment is made, on its page. */
function active(given: Partial<Creation> = {}): World {
  const world = new World({ ...creation, ...given }, 1);
  for (const invoice of world.open) world.setPage({ ...invoice, page: 'open' }, 'paid');
  world.settle();
  return world;
}
const change = (world: World, amount: bigint, proration: 'now' | 'none' = 'now') => {
  world.apply(world.changeItems(amount, proration));
  world.settle();
};
const newest = (world: World) => {
  const invoice = [...world.invoices.values()].at(-1);
  if (invoice === undefined) throw new Error('there is an invoice');
  return invoice;
};

/** An active subscription whose change to 3,000 is being charged by its mandate. */
function charged(): World {
  const world = active();
  world.subscription = { ...world.subscription, methodId: 'pm_1' };
  world.reading = ({ amount }) => ({ kind: 'ready', methodId: 'pm_1', amount, cap: amount, used: 0n });
  change(world, 3_000n);
  expect(newest(world).pendingChargeId).not.toBeNull();
  return world;
}

test('a change that nobody paid is taken off again, and is no credit', () => {
  const world = active();
  change(world, 200_000n);
  const raised = newest(world);
  expect(raised).toMatchObject({ status: 'open', amount: 199_000n });
  change(world, 1_000n);
  expect(world.invoices.get(raised.id)).toMatchObject({ status: 'paid', amount: 0n });
  expect(world.subscription.credit).toBe(0n);
  change(world, 100_000n);
  expect(newest(world)).toMatchObject({ status: 'open', amount: 99_000n });
});

test('what a change cost until it is taken back is still to be paid', () => {
  const world = active();
  change(world, 200_000n);
  world.now += 7 * DAY;
  change(world, 1_000n);
  // A quarter of February.
  expect(newest(world)).toMatchObject({ status: 'open', amount: 49_750n, reduction: 0n });
});

test('several open changes are reduced, the newest first, and only what is left is a credit of what was paid', () => {
  const world = active();
  for (const amount of [3_000n, 6_000n]) change(world, amount);
  change(world, 2_000n);
  const amounts = world.open.map(({ amount }) => amount);
  expect([amounts, world.subscription.credit]).toEqual([[1_000n], 0n]);
  change(world, 500n);
  expect([world.open, world.subscription.credit]).toEqual([[], 500n]);
});

test('while a payment of it is on its way an invoice keeps its amount: it is a credit once that has come', () => {
  for (const page of ['money', 'frozen'] as const) {
    const world = active();
    change(world, 3_000n);
    world.setPage(newest(world), page);
    change(world, 1_000n);
    expect(newest(world)).toMatchObject({ status: 'open', amount: 2_000n, reduction: 2_000n });
    expect(world.subscription.credit).toBe(0n);
    world.setPage(newest(world), 'paid');
    world.settle();
    expect(newest(world)).toMatchObject({ status: 'paid', amount: 2_000n, credited: 2_000n, reduction: 0n });
    expect(world.subscription.credit).toBe(2_000n);
  }
});

test('it is taken off once that has failed, and nobody is past due for an amount that is not due', () => {
  for (const code of ['insufficient_balance', 'network_unavailable']) {
    const world = charged();
    change(world, 1_000n);
    world.chargeFails = () => code;
    world.decideLive();
    expect(newest(world)).toMatchObject({ status: 'paid', amount: 0n, tries: 0 });
    expect(world.subscription).toMatchObject({ status: 'active', credit: 0n });
  }
});

test('what a credit paid of an invoice whose charge is on its way is a credit again', () => {
  const world = active();
  change(world, 0n);
  world.subscription = { ...world.subscription, methodId: 'pm_1' };
  world.reading = ({ amount }) => ({ kind: 'ready', methodId: 'pm_1', amount, cap: amount, used: 0n });
  change(world, 3_000n);
  expect(newest(world)).toMatchObject({ amount: 2_000n, creditApplied: 1_000n });
  change(world, 0n);
  expect(newest(world)).toMatchObject({ amount: 2_000n, reduction: 2_000n, creditApplied: 0n });
  expect(world.subscription.credit).toBe(1_000n);
});

test('a new mandate is tried at once though the charge of the one before fails for an amount that was reduced', () => {
  const world = charged();
  world.apply(decideMandate(world.facts, { methodId: 'pm_2' }, world.context));
  world.apply(world.changeItems(2_000n, 'now'));
  expect(newest(world)).toMatchObject({ amount: 2_000n, reduction: 1_000n });
  world.draft((draft) => chargeFailed(draft, newest(world).id, 'mandate_revoked'));
  expect(newest(world)).toMatchObject({ amount: 1_000n, chargesEnded: false, nextTryAt: world.now });
});

test('up and down again and again: the same credit pays each time, and is never more than was paid', () => {
  const world = active();
  for (let n = 0; n < 5; n++) {
    change(world, 0n);
    expect(world.subscription.credit).toBe(1_000n);
    change(world, 1_000n);
    expect(newest(world)).toMatchObject({ status: 'paid', amount: 0n });
    expect(world.subscription.credit).toBe(0n);
  }
});

const plans = fc.record({
  afterHours: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 800 })),
  deed: fc.constantFrom(
    ...([
      'items',
      'items',
      'items',
      'items',
      'mandate',
      'topUp',
      'pay',
      'page',
      'seen',
      'seized',
      'cancelAt',
    ] as const),
  ),
  pick: fc.nat(),
  isOff: fc.constant(false),
});
const histories = fc.array(plans, { minLength: 1, maxLength: 40 });
const startings = fc.record<Creation>({
  amount: fc.bigInt({ min: 1n, max: 5_000n }),
  interval: fc.constantFrom('day', 'week', 'month'),
  methodId: fc.option(fc.constant('pm_1')),
  trialDays: fc.constantFrom(0, 0, 0, 7),
  anchor: fc.constant(null),
  cancelAt: fc.constant(null),
});

function play(world: World, steps: readonly (Step & { isOff: boolean })[]): void {
  for (const step of steps) {
    if (isFinal(world.subscription.status)) return;
    world.runTo(world.now + step.afterHours * 3_600, step.isOff);
    world.do(step);
    world.settle();
  }
}

// What the world checks after each change: every paid invoice by its own money, all credits by what was paid and given
// back, and all that is asked for by the exact price of what was billed.
test('whatever happens, credit ever used is at most what was ever paid, and what is due is what was billed', () => {
  fc.assert(
    fc.property(startings, histories, fc.integer({ min: 1, max: 2 ** 30 }), (given, steps, seed) => {
      play(new World(given, seed), steps);
    }),
    { numRuns: 3_000 },
  );
}, 120_000);

test('who never pays after the first payment never has a paid invoice above 0 but that, and no credit above it', () => {
  fc.assert(
    fc.property(startings, histories, fc.boolean(), (given, steps, hasPaidOnce) => {
      const world = new World(
        { ...given, trialDays: hasPaidOnce ? 0 : 7, methodId: hasPaidOnce ? null : 'pm_1' },
        1,
      );
      if (hasPaidOnce) for (const invoice of world.open) world.setPage(invoice, 'paid');
      world.settle();
      world.reading = ({ amount }) => ({ kind: 'ready', methodId: 'pm_1', amount, cap: amount, used: 0n });
      world.chargeFails = () => 'insufficient_balance';
      world.pagePays = () => false;
      play(
        world,
        steps.filter(({ deed }) => deed !== 'page'),
      );
      const paid = [...world.invoices.values()].filter(
        ({ status, amount }) => status === 'paid' && amount > 0n,
      );
      expect(paid.length).toBe(hasPaidOnce ? 1 : 0);
      expect(world.subscription.credit <= (hasPaidOnce ? given.amount : 0n)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
}, 120_000);
