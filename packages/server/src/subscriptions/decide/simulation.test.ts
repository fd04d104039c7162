import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scaled } from '../../../../../test/scale.ts';
import { hold, START, type Step, World } from '../../../../../test/subscriptions/simulated-billing.ts';
import { isFinal } from '../states.ts';
import type { Creation } from './creation.ts';
import { boundary, periodIndex } from './periods.ts';

const YEARS_10 = 10 * 365.25 * 86_400;

/** I16: every period from the first to the newest has one invoice, on the grid of the anchor. */
function checkPeriods({ subscription, invoices }: World): void {
  const { anchor, interval } = subscription;
  const periods = [...invoices.values()]
    .filter(({ reason }) => reason !== 'subscription_update')
    .sort((a, b) => a.periodStart - b.periodStart);
  const isBoundary = (at: number) => boundary(anchor, interval, periodIndex(anchor, interval, at)) === at;
  for (const [i, { periodStart, periodEnd, reason }] of periods.entries()) {
    const next = periods[i + 1];
    hold(next === undefined || next.periodStart === periodEnd, 'periods follow each other');
    hold(isBoundary(periodEnd), 'a period ends on the grid');
    hold(reason === 'subscription_create' || isBoundary(periodStart), 'a cycle begins on the grid');
  }
}

const creations = fc.record<Creation>({
  amount: fc.bigInt({ min: 0n, max: 100_000n }),
  interval: fc.constantFrom('day', 'week', 'month', 'month', 'year'),
  methodId: fc.option(fc.constant('pm_1'), { freq: 2 }),
  trialDays: fc.constantFrom(0, 0, 0, 1, 14, 90),
  anchor: fc.constant(null),
  cancelAt: fc.option(fc.integer({ min: START + 1, max: START + YEARS_10 }), { freq: 5 }),
});
const steps = fc.array(
  fc.record<Step & { isOff: boolean }>({
    afterHours: fc.oneof(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 9_000 })),
    deed: fc.constantFrom(
      ...([
        'wait',
        'charge',
        'page',
        'cancel',
        'cancelAt',
        'items',
        'mandate',
        'topUp',
        'pay',
        'seen',
        'seized',
        'suspend',
        'resume',
      ] as const),
    ),
    pick: fc.nat(),
    isOff: fc.boolean(),
  }),
  { maxLength: 40 },
);

test('I16, I7: in 10 years of any subscription no invoice is missing or double, and every change is a row of the table', () => {
  fc.assert(
    fc.property(creations, steps, fc.integer({ min: 1, max: 2 ** 30 }), (creation, played, seed) => {
      const world = new World(creation, seed);
      world.settle();
      for (const step of played) {
        if (world.now > START + YEARS_10) break;
        world.runTo(world.now + step.afterHours * 3_600, step.isOff);
        world.do(step);
        world.settle();
        checkPeriods(world);
      }
      world.runTo(START + YEARS_10, false);
      checkPeriods(world);
      if (isFinal(world.subscription.status)) expect(world.settle()).toBeNull();
    }),
    { numRuns: scaled(1_000, 250) },
  );
}, 120_000);

test('I16: with a good mandate every period of 10 years is billed at its price, once, at its start', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('week' as const, 'month' as const, 'year' as const),
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      (interval, amount) => {
        const world = new World(
          { amount, interval, methodId: 'pm_1', trialDays: 0, anchor: null, cancelAt: null },
          1,
        );
        world.reading = () => ({ kind: 'ready', methodId: 'pm_1', amount, cap: amount, used: 0n });
        world.chargeFails = () => undefined;
        world.settle();
        world.decideLive();
        world.runTo(START + YEARS_10, false);
        const all = [...world.invoices.values()];
        expect(all.length).toBe(periodIndex(START, interval, START + YEARS_10) + 1);
        for (const invoice of all) {
          expect(invoice).toMatchObject({ amount, status: 'paid', createdAt: invoice.periodStart, tries: 0 });
        }
        checkPeriods(world);
      },
    ),
    { numRuns: 12 },
  );
}, 60_000);
