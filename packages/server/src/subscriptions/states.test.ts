import { expect, test } from 'vitest';
import type { InvoiceFacts } from '../invoices/decide/index.ts';
import { decideCancel } from './decide/cancellation.ts';
import { chargeFailed, chargeSucceeded, orderedCharge, tryCharge } from './decide/charge.ts';
import { decideCreation } from './decide/creation.ts';
import { BillingDraft, type DecisionContext } from './decide/draft.ts';
import { decideDue } from './decide/due.ts';
import type { Decision, Facts } from './decide/facts.ts';
import { decideMandate } from './decide/mandate.ts';
import { decideUpdate } from './decide/update.ts';

const T0 = Date.UTC(2027, 0, 31) / 1000;
const HOUR = 3_600;
const DAY = 86_400;
const RULES = { dunningDays: [1, 3, 5, 7], pageDueSeconds: 3 * DAY };
let made = 0;
const at = (now: number): DecisionContext => ({ rules: RULES, now, newId: () => `in_${++made}` });
const told = (decision: Decision) => decision.events.map(({ type }) => type).join(' ');

/** The facts after a decision. */
function after(facts: Facts, decision: Decision): Facts {
  const changed = new Map(decision.invoices.map((invoice) => [invoice.id, invoice]));
  const known = facts.invoices.map((invoice) => changed.get(invoice.id) ?? invoice);
  const fresh = decision.invoices.filter(({ id }) => !facts.invoices.some((one) => one.id === id));
  const invoices = [...known, ...fresh].filter(({ status }) => status === 'open');
  return { subscription: decision.subscription, invoices };
}
const play = (facts: Facts, now: number, decide: (draft: BillingDraft) => void) => {
  const draft = new BillingDraft(facts, at(now));
  decide(draft);
  return draft.decision;
};
const first = ({ invoices }: Facts): InvoiceFacts => {
  const [invoice] = invoices;
  if (invoice === undefined) throw new Error('an invoice is open');
  return invoice;
};
const NO_FACTS = (decision: Decision) =>
  after({ subscription: decision.subscription, invoices: [] }, decision);
const create = (more: object = {}) =>
  NO_FACTS(
    decideCreation(
      {
        amount: 2_000n,
        interval: 'month',
        methodId: null,
        trialDays: 0,
        anchor: null,
        cancelAt: null,
        ...more,
      },
      at(T0),
    ),
  );
const due = (facts: Facts, now: number): Decision => {
  const next = decideDue(facts, at(now));
  if (next.do !== 'change') throw new Error(`${next.do} is due`);
  return next.decision;
};
const order = (facts: Facts, now: number) =>
  after(
    facts,
    play(facts, now, (draft) => {
      const { id, amount } = first(facts);
      const methodId = facts.subscription.methodId ?? '';
      const reading = { kind: 'ready', methodId, amount, cap: 10n ** 9n, used: 0n } as const;
      const attempt = tryCharge(draft, id, reading);
      if (attempt.did === 'ordered') orderedCharge(draft, id, { ...attempt, paymentId: 'pay_1' });
    }),
  );
const decline = (facts: Facts, now: number, code = 'insufficient_balance') =>
  play(facts, now, (draft) => {
    tryCharge(draft, first(facts).id, { kind: 'declined', code });
  });
const active = (methodId: string | null) => {
  const facts = create({ methodId });
  return after(
    facts,
    play(facts, T0, (draft) => chargeSucceeded(draft, first(facts).id)),
  );
};
const FEB = Date.UTC(2027, 1, 28) / 1000;
const renewed = (methodId: string | null) => {
  const facts = active(methodId);
  return after(facts, due(facts, FEB));
};

test('active → past_due → canceled: the last failure ends it in its own change', () => {
  let facts = renewed('pm_1');
  expect(first(facts)).toMatchObject({
    reason: 'subscription_cycle',
    dueDate: FEB,
    nextTryAt: FEB,
    page: 'none',
  });
  const failed = decline(facts, FEB);
  expect(told(failed)).toBe('payment.failed invoice.payment_failed subscription.past_due');
  facts = after(facts, failed);
  expect(first(facts)).toMatchObject({ page: 'open', paymentStatus: 'failed', nextTryAt: FEB + DAY });
  for (const days of [1, 3, 5]) {
    expect(decideDue(facts, at(FEB + days * DAY - 1))).toEqual({ do: 'wait', at: FEB + days * DAY });
    expect(decideDue(facts, at(FEB + days * DAY))).toEqual({ do: 'try', invoiceId: first(facts).id });
    const again = decline(facts, FEB + days * DAY);
    expect(told(again)).toBe('payment.failed invoice.payment_failed');
    facts = after(facts, again);
  }
  const last = decline(facts, FEB + 7 * DAY);
  expect(told(last)).toBe('payment.failed invoice.payment_failed payment.expired subscription.canceled');
  expect(last.invoices).toMatchObject([{ status: 'void', paymentStatus: 'expired', page: 'expired' }]);
  expect(decideDue(after(facts, last), at(FEB + 400 * DAY))).toEqual({ do: 'wait', at: null });
});

test('a charge that fails on a page invoice before its due date moves nothing; its days count from there', () => {
  const paged = renewed(null);
  const facts = after(paged, decideMandate(paged, { methodId: 'pm_2' }, at(FEB + DAY)));
  expect(decideDue(facts, at(FEB + DAY)).do).toBe('try');
  const failed = decline(facts, FEB + DAY);
  expect(told(failed)).toBe('payment.failed invoice.payment_failed');
  const waiting = after(facts, failed);
  expect(decideDue(waiting, at(FEB + 2 * DAY))).toEqual({ do: 'wait', at: FEB + 3 * DAY });
  const late = due(waiting, FEB + 3 * DAY);
  expect(told(late)).toBe('invoice.payment_failed subscription.past_due');
  expect(decideDue(after(waiting, late), at(FEB + 3 * DAY))).toEqual({ do: 'wait', at: FEB + 4 * DAY });
});

test('past_due → same: another page invoice unpaid at its due date', () => {
  let facts = renewed(null);
  facts = after(facts, due(facts, FEB + 3 * DAY));
  const update = { items: { amount: 9_000n, proration: 'now' as const }, changesMore: false };
  expect(told(decideUpdate(facts, update, at(FEB + 4 * DAY)))).toBe('subscription.updated');
  const paid = active(null);
  let dearer = after(paid, decideUpdate(paid, update, at(T0 + 20 * DAY)));
  expect(first(dearer)).toMatchObject({ reason: 'subscription_update', periodEnd: FEB, page: 'open' });
  dearer = after(dearer, due(dearer, T0 + 23 * DAY));
  dearer = after(dearer, due(dearer, FEB));
  expect(dearer.invoices).toHaveLength(2);
  const second = {
    ...dearer,
    invoices: dearer.invoices.map((one, i) => (i === 0 ? { ...one, overdueFrom: FEB } : one)),
  };
  expect(told(due(second, FEB + 3 * DAY))).toBe('invoice.payment_failed');
});

test('past_due → same: paid, while another invoice is overdue', () => {
  const facts = renewed('pm_1');
  const behind = after(facts, decline(facts, FEB));
  const other = { ...first(behind), id: 'in_other', reason: 'subscription_update' as const };
  const both = { ...behind, invoices: [...behind.invoices, other] };
  const paid = play(both, FEB + HOUR, (draft) => chargeSucceeded(draft, first(both).id));
  expect(told(paid)).toBe('payment.completed invoice.paid');
  expect(paid.subscription).toMatchObject({ status: 'past_due', periodStart: FEB });
});

test('a cancel with a charge on its way: planned at once, done with what became of the charge', () => {
  const facts = order(renewed('pm_1'), FEB);
  const planned = decideCancel(facts, { at: 'now' }, at(FEB + 5));
  expect(told(planned)).toBe('subscription.updated');
  expect(planned.subscription).toMatchObject({ status: 'active', cancelAt: FEB + 5, canceledAt: null });
  const waiting = after(facts, planned);
  expect(decideDue(waiting, at(FEB + 6))).toEqual({ do: 'wait', at: null });
  const { id } = first(waiting);
  const kept = play(waiting, FEB + 9, (draft) => chargeSucceeded(draft, id));
  expect(told(kept)).toBe('payment.completed invoice.paid subscription.updated subscription.canceled');
  expect(kept.invoices).toMatchObject([{ status: 'paid' }]);
  const lost = play(waiting, FEB + 9, (draft) => chargeFailed(draft, id, 'insufficient_balance'));
  expect(told(lost)).toBe(
    'payment.failed invoice.payment_failed subscription.past_due subscription.canceled',
  );
  expect(lost.invoices).toMatchObject([{ status: 'void', paymentStatus: 'canceled', page: 'none' }]);
});

test('23 h wait for a charge that is on its way', () => {
  const facts = order(create({ methodId: 'pm_1' }), T0 + 23 * HOUR - 1);
  expect(decideDue(facts, at(T0 + 24 * HOUR))).toEqual({ do: 'wait', at: null });
  const failed = play(facts, T0 + 24 * HOUR, (draft) =>
    chargeFailed(draft, first(facts).id, 'transfer_failed'),
  );
  expect(told(failed)).toBe('payment.failed invoice.payment_failed');
  const over = due(after(facts, failed), T0 + 24 * HOUR);
  expect(told(over)).toBe('payment.expired subscription.incomplete_expired');
});

test('trouble on our side counts as no try: no status moves, no day passes, the last day waits', () => {
  let facts = renewed('pm_1');
  const wait = play(facts, FEB, (draft) => {
    tryCharge(draft, first(facts).id, { kind: 'unavailable' });
  });
  expect(told(wait)).toBe('');
  facts = after(facts, wait);
  expect(facts.subscription.status).toBe('active');
  expect(first(facts)).toMatchObject({ tries: 0, overdueFrom: null, paymentStatus: 'pending' });
  expect(first(facts).nextTryAt).toBeLessThanOrEqual(FEB + 10 * 60);
  facts = after(facts, decline(facts, FEB + HOUR));
  for (const days of [1, 3, 5]) facts = after(facts, decline(facts, FEB + HOUR + days * DAY));
  const held = play(facts, FEB + HOUR + 7 * DAY, (draft) => {
    tryCharge(draft, first(facts).id, { kind: 'declined', code: 'network_unavailable' });
  });
  facts = after(facts, held);
  expect(decideDue(facts, at(FEB + HOUR + 7 * DAY + 1)).do).toBe('wait');
  expect(decideDue(facts, at(FEB + 8 * DAY))).toEqual({ do: 'try', invoiceId: first(facts).id });
});

test('a cap: above it the invoice fails, beside another charge of the window it waits for the next', () => {
  const facts = renewed('pm_1');
  const { id } = first(facts);
  const reading = { kind: 'ready', methodId: 'pm_1', amount: 20n, cap: 30n, used: 15n } as const;
  const beside = play(facts, FEB, (draft) => {
    expect(tryCharge(draft, id, reading)).toEqual({ did: 'waits' });
  });
  expect(beside.invoices).toMatchObject([{ nextTryAt: Date.UTC(2027, 2, 31) / 1000, tries: 0 }]);
  play(facts, FEB, (draft) => {
    expect(tryCharge(draft, id, { ...reading, cap: 19n })).toEqual({ did: 'declined', code: 'cap_exceeded' });
  });
});

test('a mandate given while the charge of the one before is on its way is tried once that has failed', () => {
  const facts = order(renewed('pm_1'), FEB);
  const given = after(facts, decideMandate(facts, { methodId: 'pm_2' }, at(FEB + 1)));
  const failed = play(given, FEB + 5, (draft) => chargeFailed(draft, first(given).id, 'mandate_revoked'));
  expect(failed.invoices).toMatchObject([{ chargesEnded: false, nextTryAt: FEB + 5 }]);
});

test('a page that becomes overdue late has all its dunning days from then', () => {
  const paged = renewed(null);
  const told = FEB + 11 * DAY;
  const late = after(paged, due(paged, told));
  expect(first(late).overdueFrom).toBe(told);
  expect(decideDue(late, at(told))).toEqual({ do: 'wait', at: told + 7 * DAY });
});

test('what waits for a network holds up nothing else: a mandate is tried, a period billed', () => {
  const paged = renewed(null);
  const given = after(paged, decideMandate(paged, { methodId: 'pm_2' }, at(FEB + 3 * DAY)));
  expect(decideDue(given, at(FEB + 3 * DAY))).toMatchObject({ do: 'change', deadline: FEB + 3 * DAY });
  expect(decideDue(given, at(FEB + 3 * DAY), false)).toEqual({ do: 'try', invoiceId: first(given).id });
  const MAR = Date.UTC(2027, 2, 31) / 1000;
  const other = { ...paged, invoices: [{ ...first(paged), reason: 'subscription_update' as const }] };
  const over = { ...other, subscription: { ...other.subscription, periodStart: FEB, periodEnd: MAR } };
  const billed = decideDue(over, at(MAR), false);
  expect(billed.do === 'change' && told(billed.decision)).toBe('invoice.created');
});

test('on the last day too: nothing is canceled before the mandate that was given meanwhile is tried', () => {
  let facts = renewed('pm_1');
  for (const days of [0, 1, 3, 5]) facts = after(facts, decline(facts, FEB + days * DAY));
  facts = order(facts, FEB + 7 * DAY);
  facts = after(facts, decideMandate(facts, { methodId: 'pm_2' }, at(FEB + 7 * DAY + 1)));
  const failed = play(facts, FEB + 7 * DAY + 5, (draft) =>
    chargeFailed(draft, first(facts).id, 'insufficient_balance'),
  );
  expect(told(failed)).toBe('payment.failed invoice.payment_failed');
  facts = after(facts, failed);
  expect(decideDue(facts, at(FEB + 7 * DAY + 5))).toEqual({ do: 'try', invoiceId: first(facts).id });
  expect(told(decline(facts, FEB + 7 * DAY + 5))).toMatch(/subscription.canceled$/);
});

test('a mandate given while money for the page is on its way is tried once that was not enough', () => {
  const paged = renewed(null);
  const seen = { ...paged, invoices: [{ ...first(paged), page: 'money' as const }] };
  const given = after(seen, decideMandate(seen, { methodId: 'pm_2' }, at(FEB + DAY)));
  expect(decideDue(given, at(FEB + DAY))).toEqual({ do: 'wait', at: null });
  const short = { ...given, invoices: [{ ...first(given), page: 'open' as const }] };
  expect(decideDue(short, at(FEB + 2 * DAY))).toEqual({ do: 'try', invoiceId: first(short).id });
});

test('what is dearer while its period is unpaid is no credit once that is paid at the old price', () => {
  const change = (facts: Facts, amount: bigint, now: number) =>
    after(facts, decideUpdate(facts, { items: { amount, proration: 'now' }, changesMore: false }, at(now)));
  let facts = change(renewed('pm_1'), 100_000n, FEB + DAY);
  const paid = play(facts, FEB + DAY, (draft) => chargeSucceeded(draft, first(facts).id));
  facts = { ...after(facts, paid), paidInPeriod: paid.invoices };
  facts = change(facts, 2_000n, FEB + 2 * DAY);
  expect(facts.subscription).toMatchObject({ amount: 2_000n, credit: 0n });
  expect(
    change({ ...facts, paidInPeriod: paid.invoices }, 1_000n, FEB + 2 * DAY).subscription.credit,
  ).toBeGreaterThan(0n);
});

test('downtime: the period of now is billed, those before are recorded; a cancel comes before all', () => {
  const facts = active('pm_1');
  const may = Date.UTC(2027, 4, 1) / 1000;
  const billed = due(facts, may);
  expect(told(billed)).toBe('invoice.created');
  const days = billed.invoices.map(({ periodStart, status }) => [
    new Date(periodStart * 1000).toISOString().slice(0, 10),
    status,
  ]);
  expect(days).toEqual([
    ['2027-02-28', 'void'],
    ['2027-03-31', 'void'],
    ['2027-04-30', 'open'],
  ]);
  const ended = { ...facts, subscription: { ...facts.subscription, cancelAt: FEB } };
  expect(told(due(ended, may))).toBe('subscription.canceled');
});
