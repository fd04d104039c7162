import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hold, type Step, World } from '../../../../../test/subscriptions/simulated-billing.ts';
import type { InvoiceFacts } from '../../invoices/decide/index.ts';
import { isFinal } from '../states.ts';
import type { Creation } from './creation.ts';

const DAY = 86_400;

/** 10.00 for each period, of which the first is paid on its page, or by a mandate that pays from then on. */
function active({ methodId, interval }: Pick<Creation, 'methodId' | 'interval'>): World {
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
  expect(before).toMatchObject({ tries: 2, dunningDaysPassed: 1 });
  world.suspend();
  world.runTo(due + 30 * DAY, false);
  expect(openOf(world)).toEqual(before);
  world.resume();
  world.settle();
  // The try of day 3 was a day ahead.
  expect(openOf(world)).toMatchObject({ tries: 2, nextTryAt: (before.nextTryAt ?? 0) + 28 * DAY });
  expect(openOf(world).nextTryAt).toBeGreaterThan(world.now);
  world.runTo(due + 31 * DAY + 3_600, false);
  expect(openOf(world)).toMatchObject({ tries: 3, dunningDaysPassed: 2 });
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

/** What happens after so many hours; a suspension takes so many more. */
interface Moment {
  afterHours: number;
  deed: Step['deed'] | 'dearer' | 'fail' | 'trouble';
  pick: number;
  suspendedHours: number;
}

/**
 * Plays moments and writes down what is tried and told, in the time for which the merchant was not suspended.
 *
 * @param lasts 0: no suspension takes any time
 */
function play(methodId: string | null, moments: readonly Moment[], lasts: 0 | 1): string[] {
  const world = active({ methodId, interval: 'year' });
  const lines: string[] = [];
  const write = (what: string) => lines.push(`${world.now - world.suspension.seconds} ${what}`);
  const apply = world.apply.bind(world);
  world.apply = (decision) => {
    const told = decision.events.map(({ type }) => type).join(' ');
    if (told !== '') write(told);
    apply(decision);
  };
  const ready = world.reading.bind(world);
  let tried = 0;
  world.reading = (invoice) => {
    write(`tries ${invoice.reason}`);
    hold(!world.suspension.isSuspended, 'nothing is tried while the merchant is suspended');
    return tried++ % 4 === 0 ? { kind: 'declined', code: 'insufficient_balance' } : ready(invoice);
  };
  const runTo = (time: number) => {
    for (let next = world.settle(); next !== null && next <= time; next = world.settle()) world.now = next;
    world.now = Math.max(world.now, time);
    world.settle();
  };
  const decideCharge = (code: string) => {
    const live = world.open.find(({ pendingChargeId, page }) => pendingChargeId !== null && page !== 'paid');
    if (live !== undefined) world.decideCharge(live, code);
  };
  const dearer = () => {
    const { amount } = world.subscription;
    if (!world.suspension.isSuspended) world.apply(world.changeItems(amount + 100n, 'now'));
  };
  runTo(world.subscription.periodEnd);
  for (const { afterHours, deed, pick, suspendedHours } of moments) {
    const hours = world.suspension.isSuspended ? suspendedHours * lasts : afterHours;
    // While its merchant is suspended, and as it has just gone on, no job has looked at it yet.
    if (world.suspension.isSuspended || pick % 2 === 0) world.now += hours * 3_600;
    else runTo(world.now + hours * 3_600);
    if (isFinal(world.subscription.status)) break;
    if (deed === 'dearer') dearer();
    else if (deed === 'fail') decideCharge(pick % 5 === 0 ? 'mandate_revoked' : 'insufficient_balance');
    else if (deed === 'trouble') decideCharge('network_unavailable');
    else world.do({ afterHours, deed, pick });
  }
  world.resume();
  runTo(world.now + 60 * DAY);
  return lines;
}

test('however long a suspension lasts, and whatever is written meanwhile, billing continues as if it had taken no time', () => {
  const deeds = ['suspend', 'resume', 'topUp', 'mandate', 'dearer', 'pay', 'page', 'seen', 'fail', 'trouble'];
  const moment = fc.record<Moment>({
    afterHours: fc.integer({ min: 0, max: 60 }),
    deed: fc.constantFrom(...(deeds as Moment['deed'][])),
    pick: fc.nat(),
    suspendedHours: fc.integer({ min: 0, max: 120 }),
  });
  const method = fc.option(fc.constant('pm_1'), { freq: 3 });
  fc.assert(
    fc.property(method, fc.array(moment, { maxLength: 20 }), (methodId, moments) => {
      expect(play(methodId, moments, 1)).toEqual(play(methodId, moments, 0));
    }),
    { numRuns: 2_000 },
  );
}, 120_000);
