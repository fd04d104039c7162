import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type InvoiceFacts, isLive } from '../invoices/index.ts';
import { decideCancel } from './cancellation.ts';
import { chargeFailed, chargeSucceeded, orderedCharge, type Reading, tryCharge } from './charge.ts';
import { type Creation, decideCreation } from './creation.ts';
import { Draft, type Occasion } from './draft.ts';
import { decideDue } from './due.ts';
import type { Decision, Facts, SubscriptionFacts } from './facts.ts';
import { decideMandate, decideTopUp, payNow } from './mandate.ts';
import { boundary, periodIndex } from './periods.ts';
import { isFinal, MOVES } from './states.ts';
import { decideUpdate } from './update.ts';

const RULES = { dunningDays: [1, 3, 5, 7], pageDueSeconds: 3 * 86_400 };
const YEARS_10 = 10 * 365.25 * 86_400;
const START = Date.UTC(2026, 0, 31, 13, 5, 7) / 1000;
/** More changes than this at one instant would be a loop. */
const CHANGES_AT_ONCE_MAX = 20;

const PAID = '(payment.completed )?invoice.paid';
const END = '( payment.(expired|cancelled))* subscription.canceled';
const OPENED = '(subscription.updated )?invoice.created';
/** The rows of the table: all that one change may tell, in order. */
const ROWS = [
  'subscription.created( subscription.trialing| invoice.created( invoice.paid subscription.active)?)?',
  `payment.failed invoice.payment_failed( subscription.past_due)?(${END})?`,
  `payment.failed(${END})?`,
  `${PAID}( subscription.active| subscription.updated)?(${END})?`,
  'subscription.trialing',
  '(payment.expired )*subscription.incomplete_expired',
  `${OPENED}( invoice.paid( subscription.active| subscription.updated)?)?`,
  'invoice.payment_failed( subscription.past_due)?',
  '(payment.(expired|cancelled) )*subscription.canceled',
  'subscription.updated',
  '',
].map((row) => new RegExp(`^${row}$`));

/** What a player does at a time; each number picks from what is possible then. */
interface Step {
  afterHours: number;
  deed: 'wait' | 'charge' | 'page' | 'cancel' | 'cancelAt' | 'items' | 'mandate' | 'topUp' | 'pay' | 'seen';
  pick: number;
}

function hold(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken: ${what}`);
}

/** A subscription in a world of memory: its invoices, and the clock. */
class World {
  subscription: SubscriptionFacts;
  readonly invoices = new Map<string, InvoiceFacts>();
  now = START;
  #made = 0;
  #random: number;

  constructor(creation: Creation, seed: number) {
    this.#random = seed;
    const decision = decideCreation(creation, this.occasion);
    this.subscription = decision.subscription;
    this.apply(decision);
  }

  get occasion(): Occasion {
    return { rules: RULES, now: this.now, newId: () => `in_${++this.#made}` };
  }

  get open(): InvoiceFacts[] {
    return [...this.invoices.values()].filter(({ status }) => status === 'open');
  }

  get facts(): Facts {
    return { subscription: this.subscription, invoices: this.open };
  }

  draft(decide: (draft: Draft) => void): void {
    const draft = new Draft(this.facts, this.occasion);
    decide(draft);
    this.apply(draft.decision);
  }

  apply(decision: Decision): void {
    const told = decision.events.map(({ type }) => type).join(' ');
    hold(
      ROWS.some((row) => row.test(told)),
      `a row of the table: ${told}`,
    );
    for (const invoice of decision.invoices) {
      const known = this.invoices.get(invoice.id);
      hold(known === undefined || known.status === 'open', 'only open invoices change');
      const isDecided = decision.events.some(
        ({ type, invoiceId }) => type === 'payment.failed' && invoiceId === invoice.id,
      );
      const isCutOff = known !== undefined && isLive(known) && !isDecided && invoice.status === 'void';
      hold(!isCutOff, 'nothing is void while money for it is on its way');
      this.invoices.set(invoice.id, invoice);
    }
    const from = this.subscription?.status ?? 'incomplete';
    const { status, canceledAt, credit } = decision.subscription;
    hold(from === status || MOVES[from].includes(status) || this.invoices.size < 2, `${from} to ${status}`);
    this.subscription = decision.subscription;
    hold(this.open.filter(({ reason }) => reason === 'subscription_cycle').length < 2, 'one open cycle');
    hold(!isFinal(status) || this.open.length === 0, 'nothing is open at the end');
    hold((status === 'canceled') === (canceledAt !== null) && credit >= 0n, 'what belongs together');
    const isForgotten = ({ tries, nextTryAt, chargesEnded, ...invoice }: InvoiceFacts) =>
      tries === 0 && nextTryAt === null && !chargesEnded && !isLive(invoice as InvoiceFacts);
    const { methodId } = this.subscription;
    hold(methodId === null || !this.open.some(isForgotten), 'what a mandate can pay is tried');
  }

  /** From 0 up to, not including, `below`. */
  random(below: number): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((this.#random / 2 ** 31) * below);
  }

  reading(invoice: InvoiceFacts): Reading {
    const roll = this.random(20);
    if (roll === 0) return { kind: 'unavailable' };
    if (roll < 4) return { kind: 'declined', code: 'insufficient_balance' };
    if (roll === 4) return { kind: 'declined', code: 'mandate_revoked' };
    const methodId = this.subscription.methodId ?? '';
    return { kind: 'ready', methodId, amount: invoice.amount, cap: 2n ** 60n, used: 0n };
  }

  /** Everything that is due now. */
  settle(): number | null {
    for (let n = 0; n < CHANGES_AT_ONCE_MAX; n++) {
      const due = decideDue(this.facts, this.occasion);
      if (due.do === 'wait') {
        hold(due.at === null || due.at > this.now, 'what is due is decided');
        return due.at;
      }
      if (due.do === 'change') this.apply(due.decision);
      else
        this.draft((draft) => {
          const invoice = draft.invoice(due.invoiceId);
          const attempt = tryCharge(draft, due.invoiceId, this.reading(invoice));
          if (attempt.did === 'ordered')
            orderedCharge(draft, due.invoiceId, { ...attempt, paymentId: `pay_${this.now}` });
        });
    }
    throw new Error('the changes of one instant have no end');
  }

  /** What is on its way is decided, most of it for good. */
  decideLive(): void {
    for (const invoice of this.open) {
      if (invoice.liveAttempt !== null && invoice.page !== 'paid') {
        const code = ['insufficient_balance', 'network_unavailable', 'mandate_revoked'][this.random(12)];
        this.draft((draft) =>
          code === undefined ? chargeSucceeded(draft, invoice.id) : chargeFailed(draft, invoice.id, code),
        );
      } else if (invoice.page === 'money') {
        this.invoices.set(invoice.id, { ...invoice, page: this.random(3) > 0 ? 'paid' : 'open' });
      }
    }
  }

  do({ deed, pick }: Step): void {
    if (isFinal(this.subscription.status)) return;
    const chosen = this.open[pick % Math.max(1, this.open.length)];
    if (deed === 'page' || deed === 'seen') {
      // A payer may send to a page whose mandate is being charged.
      if (chosen?.page === 'open')
        this.invoices.set(chosen.id, { ...chosen, page: deed === 'page' ? 'paid' : 'money' });
      return;
    }
    const decision = this.decide(deed, pick, chosen);
    if (decision !== undefined) this.apply(decision);
  }

  decide(deed: Step['deed'], pick: number, chosen: InvoiceFacts | undefined): Decision | undefined {
    const { occasion, facts } = this;
    const { status, methodId } = this.subscription;
    if (deed === 'mandate') return decideMandate(facts, `pm_${pick}`, occasion);
    if (deed === 'topUp') return decideTopUp(facts, occasion);
    if (deed === 'cancel' && pick % 9 === 0) return decideCancel(facts, 'now', occasion);
    if (deed === 'cancelAt' && pick % 3 === 0)
      return decideCancel(facts, this.now + 1 + (pick % 9_000_000), occasion);
    if (deed === 'cancelAt') return decideUpdate(facts, { cancelAt: null, changesMore: false }, occasion);
    if (deed === 'pay' && methodId !== null && chosen?.liveAttempt === null && chosen.page !== 'money') {
      const draft = new Draft(facts, occasion);
      payNow(draft, chosen.id);
      return draft.decision;
    }
    if (deed !== 'items' || status === 'incomplete') return undefined;
    const proration = (['now', 'period_end', 'none'] as const)[pick % 3] ?? 'now';
    const items = { amount: BigInt(pick % 5_000), proration };
    return decideUpdate(facts, { items, changesMore: false }, occasion);
  }

  /** Lets the clock run to a time, from due time to due time; with `isOff` nothing runs before it. */
  runTo(time: number, isOff: boolean): void {
    for (let next = isOff ? null : this.settle(); next !== null && next <= time; next = this.settle()) {
      this.now = next;
      this.settle();
      if (this.random(4) > 0) this.now += this.random(90);
      this.decideLive();
    }
    this.now = Math.max(this.now, time);
    this.decideLive();
    this.settle();
  }
}

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
    { numRuns: 1_000 },
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
        world.decideLive = () => {
          for (const { id } of world.open) world.draft((draft) => chargeSucceeded(draft, id));
        };
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
