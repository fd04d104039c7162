import { expect, test } from 'vitest';
import { World } from '../../../../test/subscriptions/simulated-billing.ts';
import type { InvoiceFacts } from '../invoices/index.ts';

const DAY = 86_400;

/** 10.00 a day or month, of which the first is paid on its page, or by a mandate that pays from then on. */
function active({ methodId, interval }: { methodId: string | null; interval: 'day' | 'month' }): World {
  const world = new World(
    { amount: 1_000n, interval, methodId, trialDays: 0, anchor: null, cancelAt: null },
    1,
  );
  world.reading = ({ amount }) => ({ kind: 'ready', methodId: 'pm_1', amount, cap: amount, used: 0n });
  world.chargeFails = () => undefined;
  for (const invoice of world.open) if (invoice.page === 'open') world.setPage(invoice, 'paid');
  world.settle();
  world.decideLive();
  world.settle();
  return world;
}
const cycles = (world: World) =>
  [...world.invoices.values()].filter(({ reason }) => reason === 'subscription_cycle');
const openOf = (world: World): InvoiceFacts => {
  const [invoice, ...more] = world.open;
  if (invoice === undefined || more.length > 0) throw new Error('one invoice is open');
  return invoice;
};

test('renewals of a suspended merchant are recorded as skipped, and the next one after it is billed at its time', () => {
  const world = active({ methodId: 'pm_1', interval: 'day' });
  const { periodEnd } = world.subscription;
  world.suspend();
  world.runTo(periodEnd + 2.5 * DAY, false);
  expect(cycles(world).map(({ status, isSkipped, periodStart }) => [status, isSkipped, periodStart])).toEqual(
    [0, 1, 2].map((n) => ['void', true, periodEnd + n * DAY]),
  );
  expect(world.subscription).toMatchObject({ status: 'active', periodEnd });
  world.resume();
  world.settle();
  expect(world.open).toEqual([]);
  world.runTo(periodEnd + 3 * DAY + 600, false);
  expect(cycles(world).at(-1)).toMatchObject({ status: 'paid', periodStart: periodEnd + 3 * DAY });
  expect(cycles(world)).toHaveLength(4);
});

test('an open invoice of a mandate waits: no try, and its days of dunning go on from where they were', () => {
  const world = active({ methodId: 'pm_1', interval: 'month' });
  const { periodEnd: due } = world.subscription;
  world.chargeFails = () => 'insufficient_balance';
  world.runTo(due + 2 * DAY, false);
  const before = openOf(world);
  expect(before).toMatchObject({ tries: 2, daysSpent: 1 });
  world.suspend();
  world.runTo(due + 30 * DAY, false);
  expect(openOf(world)).toEqual(before);
  world.resume();
  world.settle();
  // The try of day 3 was a day ahead.
  expect(openOf(world)).toMatchObject({ tries: 2, nextTryAt: (before.nextTryAt ?? 0) + 28 * DAY });
  expect(openOf(world).nextTryAt).toBeGreaterThan(world.now);
  world.runTo(due + 31 * DAY + 3_600, false);
  expect(openOf(world)).toMatchObject({ tries: 3, daysSpent: 2 });
  world.runTo(due + 34 * DAY, false);
  expect(world.subscription.status).toBe('past_due');
  world.runTo(due + 36 * DAY, false);
  expect(world.subscription.status).toBe('canceled');
});

test('a page invoice is not overdue by days on which it could not be paid', () => {
  const world = active({ methodId: null, interval: 'month' });
  const { periodEnd: due } = world.subscription;
  world.runTo(due + DAY, false);
  world.suspend();
  world.runTo(due + 11 * DAY, false);
  expect(world.subscription.status).toBe('active');
  world.resume();
  world.settle();
  expect(openOf(world)).toMatchObject({ overdueFrom: null, dueDate: due + 13 * DAY });
  world.runTo(due + 12 * DAY, false);
  expect(world.subscription.status).toBe('active');
  world.runTo(due + 14 * DAY, false);
  expect(world.subscription.status).toBe('past_due');
});

test('what payers sent is taken, and what is to end ends', () => {
  const paid = active({ methodId: null, interval: 'month' });
  paid.runTo(paid.subscription.periodEnd + 60, false);
  const invoice = openOf(paid);
  paid.suspend();
  paid.setPage(invoice, 'paid');
  paid.settle();
  expect(paid.invoices.get(invoice.id)?.status).toBe('paid');
  const ended = active({ methodId: 'pm_1', interval: 'month' });
  ended.subscription = { ...ended.subscription, cancelAt: ended.now + DAY };
  ended.suspend();
  ended.runTo(ended.now + 2 * DAY, false);
  expect(ended.subscription.status).toBe('canceled');
});
