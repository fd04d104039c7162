import { isDeepStrictEqual } from 'node:util';
import { hasPendingPayment, type InvoiceFacts } from '../../packages/server/src/invoices/decide/index.ts';
import { sumWithin } from '../../packages/server/src/subscriptions/decide/billed-ranges.ts';
import { decideCancel } from '../../packages/server/src/subscriptions/decide/cancellation.ts';
import {
  type ChargeCheck,
  chargeFailed,
  chargeSeized,
  chargeSucceeded,
  orderedCharge,
  tryCharge,
} from '../../packages/server/src/subscriptions/decide/charge.ts';
import { type Creation, decideCreation } from '../../packages/server/src/subscriptions/decide/creation.ts';
import { BillingDraft, type DecisionContext } from '../../packages/server/src/subscriptions/decide/draft.ts';
import { decideDue } from '../../packages/server/src/subscriptions/decide/due.ts';
import type {
  Decision,
  Facts,
  SubscriptionFacts,
} from '../../packages/server/src/subscriptions/decide/facts.ts';
import {
  decideMandate,
  decideTopUp,
  payNow,
} from '../../packages/server/src/subscriptions/decide/mandate.ts';
import { boundary, periodIndex } from '../../packages/server/src/subscriptions/decide/periods.ts';
import { decideUpdate, type Update } from '../../packages/server/src/subscriptions/decide/update.ts';
import { isFinal, SUBSCRIPTION_MOVES } from '../../packages/server/src/subscriptions/states.ts';

const RULES = { dunningDays: [1, 3, 5, 7], pageDueSeconds: 3 * 86_400 };
export const START = Date.UTC(2026, 0, 31, 13, 5, 7) / 1000;
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
  // The first events are those of charges that were withdrawn, as they waited for their mandate.
  '(payment.failed )*(payment.(expired|cancelled) )*subscription.canceled',
  '(payment.failed )*subscription.updated( invoice.paid( subscription.active)?)*',
  'payment.failed( payment.failed)*( subscription.trialing)?',
  `payment.failed invoice.paid( subscription.active)?(${END})?`,
  '',
].map((row) => new RegExp(`^${row}$`));

/** What a player does at a time; each number picks from what is possible then. */
export interface Step {
  afterHours: number;
  deed:
    | 'wait'
    | 'charge'
    | 'page'
    | 'cancel'
    | 'cancelAt'
    | 'items'
    | 'mandate'
    | 'topUp'
    | 'pay'
    | 'seen'
    | 'seized'
    | 'suspend'
    | 'resume';
  pick: number;
}

export function hold(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken: ${what}`);
}

/** A paid one changes in what was given back of it, and in nothing else. */
function isOpenBefore(known: InvoiceFacts, invoice: InvoiceFacts): boolean {
  if (known.status !== 'paid') return known.status === 'open';
  const { creditApplied, credited, page } = known;
  return isDeepStrictEqual({ ...invoice, creditApplied, credited, page }, known);
}

const SCALE = 10n ** 12n;
const total = (amounts: readonly bigint[]) => amounts.reduce((sum, one) => sum + one, 0n);

/** What was billed and what money came, beside what decisions say of it. */
class Books {
  /** The exact price of all that was billed, in units of 1 / SCALE. */
  #billed = 0n;
  #changes = 0n;
  /** What each payment that is on its way brings, or has brought, by its invoice. */
  readonly #asked = new Map<string, bigint>();
  readonly #came = new Map<string, bigint>();

  get money(): bigint {
    return total([...this.#came.values()]);
  }

  /** A payment of what an invoice asks for now has begun. */
  asks({ id, amount }: InvoiceFacts): void {
    this.#asked.set(id, amount);
  }

  comes(id: string): void {
    this.#came.set(id, this.#asked.get(id) ?? 0n);
  }

  /** A plan changes at once: its items cost so much more or less for the rest of the period. */
  changes(
    { subscription: { amount, billed, anchor, interval, periodEnd } }: Facts,
    after: bigint,
    now: number,
  ) {
    const part = amount < after ? { from: amount, to: after } : { from: after, to: amount };
    const inside = sumWithin(billed, part);
    const difference = amount < after ? after - amount - inside : -inside;
    const whole = periodEnd - boundary(anchor, interval, periodIndex(anchor, interval, periodEnd) - 1);
    this.#billed += (difference * BigInt(periodEnd - now) * SCALE) / BigInt(whole);
    this.#changes += 1n;
  }

  follow(invoice: InvoiceFacts, known: InvoiceFacts | undefined): void {
    const isPeriod = invoice.reason !== 'subscription_update' && !invoice.isSkipped;
    if (known === undefined && isPeriod) this.#billed += (invoice.amount + invoice.creditApplied) * SCALE;
    if (invoice.status !== 'paid' || known?.status === 'paid' || invoice.amount === 0n) return;
    hold(this.#came.get(invoice.id) === invoice.amount, 'an invoice is paid by its own amount of money');
  }

  check({ subscription: { credit, status }, invoices }: World): void {
    const all = [...invoices.values()];
    const paid = all.filter((invoice) => invoice.status === 'paid');
    const used = total(all.map(({ creditApplied }) => creditApplied));
    const credited = total(all.map((invoice) => invoice.credited));
    hold(credit === credited - used, 'a credit is what was given back and not used');
    hold(used <= credited && credited <= this.money, 'credit ever used is at most what was ever paid');
    for (const { amount, credited: back, status: one } of all)
      hold(back >= 0n && (back === 0n || (one === 'paid' && back <= amount)), 'what is given back was paid');
    if (isFinal(status)) return;
    const open = all.filter((invoice) => invoice.status === 'open');
    const asked = total([...paid, ...open].map(({ amount, reduction }) => amount - reduction));
    // Each change is rounded once, for the merchant.
    const surplus = (asked - credit) * SCALE - this.#billed;
    const rounding = BigInt(all.length) + this.#changes;
    hold(
      surplus >= -rounding && surplus <= this.#changes * SCALE + rounding,
      'what is asked for is what was billed',
    );
  }
}

const isCovering =
  ({ periodEnd }: SubscriptionFacts) =>
  (invoice: InvoiceFacts) =>
    invoice.status === 'paid' && invoice.periodEnd === periodEnd;

/** A subscription in a world of memory: its invoices, and the clock. */
export class World {
  subscription: SubscriptionFacts;
  readonly invoices = new Map<string, InvoiceFacts>();
  readonly books = new Books();
  /** What a seized charge of an invoice took. */
  readonly seizedCharges = new Map<string, bigint>();
  now = START;
  /** Since when the merchant is suspended, and how long it was before. */
  #suspendedAt: number | null = null;
  #suspendedBefore = 0;
  #made = 0;
  #random: number;

  constructor(creation: Creation, seed: number) {
    this.#random = seed;
    const decision = decideCreation(creation, this.context);
    this.subscription = decision.subscription;
    this.apply(decision);
  }

  get context(): DecisionContext {
    return { rules: RULES, now: this.now, newId: () => `in_${++this.#made}`, suspension: this.suspension };
  }

  get suspension() {
    const lasting = this.#suspendedAt === null ? 0 : this.now - this.#suspendedAt;
    return { isSuspended: this.#suspendedAt !== null, seconds: this.#suspendedBefore + lasting };
  }

  get open(): InvoiceFacts[] {
    return [...this.invoices.values()].filter(({ status }) => status === 'open');
  }

  get facts(): Facts {
    return { subscription: this.subscription, invoices: this.open };
  }

  draft(decide: (draft: BillingDraft) => void): void {
    const draft = new BillingDraft(this.facts, this.context);
    decide(draft);
    this.apply(draft.decision);
  }

  apply(decision: Decision): void {
    const told = decision.events.map(({ type }) => type).join(' ');
    hold(
      ROWS.some((row) => row.test(told)),
      `a row of the table: ${told}`,
    );
    if (this.suspension.isSuspended)
      hold(!/invoice.created|^invoice.payment_failed/.test(told), 'nothing begins for a suspended merchant');
    for (const invoice of decision.invoices) {
      const known = this.invoices.get(invoice.id);
      hold(known === undefined || isOpenBefore(known, invoice), 'only open invoices change');
      const isDecided = decision.events.some(
        ({ type, invoiceId }) => type === 'payment.failed' && invoiceId === invoice.id,
      );
      const isCutOff =
        known !== undefined && hasPendingPayment(known) && !isDecided && invoice.status === 'void';
      hold(!isCutOff, 'nothing is void while money for it is on its way');
      this.books.follow(invoice, known);
      this.invoices.set(invoice.id, invoice);
    }
    const from = this.subscription?.status ?? 'incomplete';
    const { status, canceledAt, credit } = decision.subscription;
    hold(SUBSCRIPTION_MOVES.allows(from, status) || this.invoices.size < 2, `${from} to ${status}`);
    this.subscription = decision.subscription;
    hold(this.open.filter(({ reason }) => reason === 'subscription_cycle').length < 2, 'one open cycle');
    hold(!isFinal(status) || this.open.length === 0, 'nothing is open at the end');
    hold((status === 'canceled') === (canceledAt !== null) && credit >= 0n, 'what belongs together');
    this.books.check(this);
    const isForgotten = ({ tries, nextTryAt, chargesEnded, ...invoice }: InvoiceFacts) =>
      tries === 0 && nextTryAt === null && !chargesEnded && !hasPendingPayment(invoice as InvoiceFacts);
    const { methodId } = this.subscription;
    hold(methodId === null || !this.open.some(isForgotten), 'what a mandate can pay is tried');
  }

  /** From 0 up to, not including, `below`. */
  random(below: number): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((this.#random / 2 ** 31) * below);
  }

  reading(invoice: InvoiceFacts): ChargeCheck {
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
      const due = decideDue(this.facts, this.context);
      if (due.do === 'wait') {
        hold(due.at === null || due.at > this.now, 'what is due is decided');
        return due.at;
      }
      if (due.do === 'change') this.apply(due.decision);
      else
        this.draft((draft) => {
          const invoice = draft.invoice(due.invoiceId);
          const attempt = tryCharge(draft, due.invoiceId, this.reading(invoice));
          if (attempt.did !== 'ordered') return;
          hold(!this.suspension.isSuspended, 'no charge for a suspended merchant');
          this.books.asks(invoice);
          orderedCharge(draft, due.invoiceId, { ...attempt, paymentId: `pay_${this.now}` });
        });
    }
    throw new Error('the changes of one instant have no end');
  }

  /** What is on its way is decided, most of it for good. */
  decideLive(): void {
    for (const invoice of this.open) {
      if (this.isReleased(invoice)) {
        this.books.asks(invoice);
        this.books.comes(invoice.id);
        this.draft((draft) => chargeSucceeded(draft, invoice.id));
      } else if (invoice.pendingChargeId !== null && invoice.page !== 'paid') {
        this.decideCharge(invoice, this.chargeFails());
      } else if (invoice.page === 'money' || invoice.page === 'frozen') {
        this.setPage(invoice, this.pagePays() ? 'paid' : 'open');
      }
    }
  }

  /** What a charge took is released: another one may be under way; an invoice that asks for less by now is not paid. */
  isReleased({ id, page, amount }: InvoiceFacts): boolean {
    const took = page === 'paid' ? undefined : this.seizedCharges.get(id);
    if (took === undefined || this.random(3) > 0) return false;
    this.seizedCharges.delete(id);
    return took === amount;
  }

  /** @param code why it failed, or that its coins were seized; undefined for one that paid */
  decideCharge({ id, amount }: InvoiceFacts, code: string | undefined): void {
    if (code === undefined) this.books.comes(id);
    if (code === 'seized') this.seizedCharges.set(id, amount);
    this.draft((draft) => {
      if (code === undefined) chargeSucceeded(draft, id);
      else if (code === 'seized') chargeSeized(draft, id);
      else chargeFailed(draft, id, code);
    });
  }

  chargeFails(): string | undefined {
    return ['insufficient_balance', 'network_unavailable', 'mandate_revoked', 'seized'][this.random(13)];
  }

  pagePays(): boolean {
    return this.random(3) > 0;
  }

  setPage(invoice: InvoiceFacts, page: InvoiceFacts['page']): void {
    if (invoice.page === 'open') this.books.asks(invoice);
    if (page === 'paid') this.books.comes(invoice.id);
    this.invoices.set(invoice.id, { ...invoice, page });
  }

  do({ deed, pick }: Step): void {
    if (isFinal(this.subscription.status)) return;
    if (deed === 'suspend') this.suspend();
    else if (deed === 'resume') this.resume();
    else this.ask(deed, pick);
  }

  /** A payer or the merchant does something. */
  ask(deed: Exclude<Step['deed'], 'suspend' | 'resume'>, pick: number): void {
    const chosen = this.open[pick % Math.max(1, this.open.length)];
    if (deed === 'page' || deed === 'seen' || deed === 'seized') {
      // A payer may send to a page whose mandate is being charged.
      const page = { page: 'paid', seen: 'money', seized: 'frozen' } as const;
      if (chosen?.page === 'open') this.setPage(chosen, page[deed]);
      return;
    }
    const decision = this.decide(deed, pick, chosen);
    if (decision !== undefined) this.apply(decision);
  }

  suspend(): void {
    this.#suspendedAt ??= this.now;
  }

  resume(): void {
    this.#suspendedBefore = this.suspension.seconds;
    this.#suspendedAt = null;
  }

  unsent(pick: number): string[] {
    return this.open.flatMap(({ id, pendingChargeId }) => (pendingChargeId === null || pick % 2 ? [] : [id]));
  }

  decide(deed: Step['deed'], pick: number, chosen: InvoiceFacts | undefined): Decision | undefined {
    const { context, facts } = this;
    const { status, methodId } = this.subscription;
    if (deed === 'mandate')
      return decideMandate(facts, { methodId: `pm_${pick}`, withdrawn: this.unsent(pick) }, context);
    if (deed === 'topUp') return decideTopUp(facts, context);
    // Nobody can ask for anything; what was asked for just before, and what the chain shows, is written meanwhile.
    if (this.suspension.isSuspended) return undefined;
    const withdrawn = this.unsent(pick);
    if (deed === 'cancel' && pick % 9 === 0) return decideCancel(facts, { at: 'now', withdrawn }, context);
    if (deed === 'cancelAt' && pick % 3 === 0)
      return decideCancel(facts, { at: this.now + 1 + (pick % 9_000_000) }, context);
    if (deed === 'cancelAt') return decideUpdate(facts, { cancelAt: null, changesMore: false }, context);
    if (deed === 'pay' && methodId !== null && chosen?.pendingChargeId === null && chosen.page !== 'money') {
      const draft = new BillingDraft(facts, context);
      payNow(draft, chosen.id);
      return draft.decision;
    }
    if (deed !== 'items' || status === 'incomplete') return undefined;
    const proration = (['now', 'period_end', 'none', 'now'] as const)[pick % 4] ?? 'now';
    return this.changeItems(BigInt(pick % 5_000), proration);
  }

  changeItems(amount: bigint, proration: NonNullable<Update['items']>['proration']): Decision {
    const { status, periodEnd } = this.subscription;
    const paidInPeriod = [...this.invoices.values()].reverse().filter(isCovering(this.subscription));
    const facts = { ...this.facts, paidInPeriod };
    const isProrated = proration === 'now' && status !== 'trialing' && this.now < periodEnd;
    if (isProrated) this.books.changes(facts, amount, this.now);
    return decideUpdate(facts, { items: { amount, proration }, changesMore: false }, this.context);
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
