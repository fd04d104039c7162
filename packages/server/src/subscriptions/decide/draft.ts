import type { SubscriptionStatus } from '@florin/contract/schemas';
import { keysOf } from '@florin/contract/tables';
import { hasPendingPayment, type InvoiceFacts, openPaymentStatus } from '../../invoices/decide/index.ts';
import { invariant } from '../../platform/fail.ts';
import { SUBSCRIPTION_MOVES } from '../states.ts';
import type { BillingRules, DecidedEvent, Decision, Facts, SubscriptionFacts } from './facts.ts';
import { movedBySuspension, type Suspension } from './suspension.ts';

/** The state of one change while it is decided. Each part of the decision sees the parts before it. */
export class BillingDraft {
  subscription: SubscriptionFacts;
  readonly rules: BillingRules;
  readonly now: number;
  /** The merchant's total suspension time up to now. */
  readonly suspendedSeconds: number;
  readonly #before: ReadonlyMap<string, InvoiceFacts>;
  readonly #invoices: Map<string, InvoiceFacts>;
  readonly #events: DecidedEvent[] = [];
  readonly #newId: () => string;

  constructor(facts: Facts, { rules, now, newId, suspension }: DecisionContext) {
    this.subscription = facts.subscription;
    this.rules = rules;
    this.now = now;
    this.suspendedSeconds = suspension?.seconds ?? 0;
    this.#newId = newId;
    this.#before = new Map(
      [...(facts.paidInPeriod ?? []), ...facts.invoices].map((invoice) => [invoice.id, invoice]),
    );
    const moved = facts.invoices.map((invoice) =>
      movedBySuspension(invoice, { seconds: this.suspendedSeconds }),
    );
    this.#invoices = new Map([...this.#before, ...moved.map((invoice) => [invoice.id, invoice] as const)]);
  }

  get openInvoices(): InvoiceFacts[] {
    return [...this.#invoices.values()].filter(({ status }) => status === 'open');
  }

  /** The known paid invoices of the current period. */
  get paidInPeriod(): InvoiceFacts[] {
    const { periodEnd } = this.subscription;
    return [...this.#invoices.values()].filter(
      (invoice) => invoice.status === 'paid' && invoice.periodEnd === periodEnd,
    );
  }

  get isAnyPaymentPending(): boolean {
    return this.openInvoices.some(hasPendingPayment);
  }

  newId(): string {
    return this.#newId();
  }

  invoice(id: string): InvoiceFacts {
    const found = this.#invoices.get(id);
    invariant(found !== undefined, 'a decision is about its own invoices');
    return found;
  }

  change(change: Partial<SubscriptionFacts>): void {
    this.subscription = { ...this.subscription, ...change };
  }

  move(status: SubscriptionStatus): void {
    SUBSCRIPTION_MOVES.check(this.subscription.status, status);
    this.change({ status });
  }

  put(invoice: InvoiceFacts): void {
    this.#invoices.set(invoice.id, invoice);
  }

  emit(type: DecidedEvent['type'], invoiceId?: string): void {
    this.#events.push(invoiceId === undefined ? { type } : { type, invoiceId });
  }

  get decision(): Decision {
    const settled = [...this.#invoices.values()].map((invoice) =>
      invoice.status === 'open' ? { ...invoice, paymentStatus: openPaymentStatus(invoice) } : invoice,
    );
    return {
      subscription: this.subscription,
      invoices: settled.filter((invoice) => !isSame(invoice, this.#before.get(invoice.id))),
      events: this.#events,
    };
  }
}

/** The time and the rules of a decision. */
export interface DecisionContext {
  rules: BillingRules;
  /** Unix seconds of the merchant's clock. */
  now: number;
  /** Generates ids of new invoices. */
  newId: () => string;
  /** Absent: the merchant was never suspended. */
  suspension?: Suspension;
}

function isSame(a: InvoiceFacts, b: InvoiceFacts | undefined): boolean {
  return b !== undefined && keysOf(a).every((key) => a[key] === b[key]);
}
