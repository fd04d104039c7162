import type { PaymentStatus } from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  afterCharge,
  type ChargeOutcome,
  endOfPage,
  exceptionsOf,
  invoicePageState,
  kindOf,
  type Moment,
  nextStatus,
  type PageEnd,
  type PaymentFacts,
  type Rules,
  receivedOf,
  type TransactionFact,
  toleranceOf,
} from './states.ts';

const T0 = 1_800_000_000;
const EXPIRES = T0 + 1_800;
const DAY = 86_400;
const TOKEN = 1_000_000n;
const RULES: Rules = { tolerance: 500_000n, lateSeconds: DAY };
const MOMENT: Moment = { now: T0 + 60, mayExpire: true, hasNewMoney: true, rateMoved: false };

const transfer = (changed: Partial<TransactionFact> = {}): TransactionFact => ({
  kind: 'counted',
  status: 'final',
  amount: 100n * TOKEN,
  seenAt: T0 + 30,
  isDecided: false,
  ...changed,
});
const payment = (transactions: TransactionFact[], changed: Partial<PaymentFacts> = {}): PaymentFacts => ({
  status: 'pending',
  expiresAt: EXPIRES,
  canceledAt: null,
  closedAt: null,
  completedAt: null,
  payAmount: transactions.length === 0 ? null : 100n * TOKEN,
  isQuoteDue: false,
  refunded: 0n,
  refunding: 0n,
  transactions,
  ...changed,
});
const statusOf = (facts: PaymentFacts, moment: Partial<Moment> = {}) =>
  nextStatus(facts, RULES, { ...MOMENT, ...moment });

test('K1: seen is processing, gone is open again, final is paid', () => {
  expect(statusOf(payment([]))).toBe('pending');
  expect(statusOf(payment([transfer({ status: 'seen' })]))).toBe('processing');
  expect(statusOf(payment([transfer({ status: 'gone' })], { status: 'processing' }))).toBe('pending');
  expect(statusOf(payment([transfer()], { status: 'processing' }))).toBe('completed');
});

test('K3: parts add up, a little may be missing, more is underpaid, too much is paid and said', () => {
  const half = transfer({ amount: 50n * TOKEN });
  expect(statusOf(payment([half]))).toBe('pending');
  expect(exceptionsOf(payment([half]), RULES)).toEqual(['underpaid']);
  expect(statusOf(payment([half, half]))).toBe('completed');
  expect(statusOf(payment([transfer({ amount: 100n * TOKEN - 500_000n })]))).toBe('completed');
  expect(statusOf(payment([transfer({ amount: 100n * TOKEN - 500_001n })]))).toBe('pending');
  const much = payment([half, transfer()]);
  expect(statusOf(much)).toBe('completed');
  expect(exceptionsOf(much, RULES)).toEqual(['overpaid']);
});

test('fault 67: one second before, at and after the expiry', () => {
  const expiring = { now: EXPIRES };
  expect(statusOf(payment([]), { now: EXPIRES - 1 })).toBe('pending');
  expect(statusOf(payment([]), expiring)).toBe('expired');
  // Somebody may have paid on a network that cannot be read just now.
  expect(statusOf(payment([]), { ...expiring, mayExpire: false })).toBe('pending');
  expect(statusOf(payment([transfer({ status: 'seen', seenAt: EXPIRES })]), expiring)).toBe('processing');
  expect(statusOf(payment([transfer({ seenAt: EXPIRES })]), { now: EXPIRES + 900 })).toBe('completed');
  expect(statusOf(payment([transfer({ amount: TOKEN })]), expiring)).toBe('expired');
});

test('K3: late money completes within a day at nearly the same rate, once it is final, and else lies there', () => {
  const late = (changed: Partial<TransactionFact> = {}) =>
    payment([transfer({ seenAt: EXPIRES + 1, ...changed })], { status: 'expired' });
  expect(statusOf(late())).toBe('completed');
  expect(statusOf(late({ status: 'seen' }))).toBe('expired');
  expect(statusOf(late({ seenAt: EXPIRES + DAY }))).toBe('completed');
  expect(statusOf(late({ seenAt: EXPIRES + DAY + 1 }))).toBe('expired');
  expect(statusOf(late(), { rateMoved: true })).toBe('expired');
  // A refund that failed gives money back, but nobody judges anew.
  expect(statusOf(late(), { hasNewMoney: false })).toBe('expired');
  expect(nextStatus(late(), { ...RULES, lateSeconds: 0 }, MOMENT)).toBe('expired');
  expect(exceptionsOf(late(), RULES)).toEqual(['late']);
  // The same before anybody has called it expired.
  expect(statusOf({ ...late(), status: 'processing' }, { rateMoved: true, now: EXPIRES + 10 })).toBe(
    'expired',
  );
});

test('K3: after a cancel money never completes by itself', () => {
  const facts = payment([transfer({ seenAt: T0 + 100 })], { status: 'cancelled', canceledAt: T0 + 90 });
  expect(statusOf(facts)).toBe('cancelled');
  expect(exceptionsOf(facts, RULES)).toEqual(['canceled']);
});

test('a listed sender freezes, clean money still pays, and a decision thaws', () => {
  const seized = transfer({ kind: 'seized' });
  expect(statusOf(payment([seized]))).toBe('frozen');
  expect(statusOf(payment([transfer({ kind: 'seized', status: 'seen' })]))).toBe('processing');
  expect(statusOf(payment([seized, transfer()], { status: 'frozen' }))).toBe('completed');
  const decided = payment([{ ...seized, isDecided: true }], { status: 'frozen' });
  expect(statusOf(decided)).toBe('pending');
  expect(statusOf(decided, { now: EXPIRES })).toBe('expired');
  expect(statusOf(payment([seized], { status: 'frozen' }), { now: EXPIRES + DAY })).toBe('frozen');
  for (const status of ['completed', 'expired', 'cancelled'] as const) {
    expect(statusOf(payment([seized], { status, completedAt: status === 'completed' ? T0 : null }))).toBe(
      status,
    );
  }
});

test('K4: another token or option is shown and counts for nothing', () => {
  const fixed = { currency: 'USDT', network: 'erc20' };
  const other = { currency: 'USDC', network: 'erc20' };
  const clean = { network: 'erc20', isListedSender: false };
  expect(kindOf({ ...clean, currency: 'USDT' }, fixed, fixed)).toBe('counted');
  expect(kindOf({ ...clean, currency: 'USDC' }, fixed, fixed)).toBe('wrong_token');
  expect(kindOf({ ...clean, currency: 'USDC' }, fixed, other)).toBe('wrong_token');
  expect(kindOf({ ...clean, currency: null }, fixed, fixed)).toBe('unlisted');
  expect(kindOf({ ...clean, currency: 'USDT', isListedSender: true }, fixed, fixed)).toBe('seized');
  const facts = payment([transfer({ kind: 'wrong_token' }), transfer({ kind: 'unlisted' })]);
  expect(statusOf(facts)).toBe('pending');
  expect(exceptionsOf(facts, RULES)).toEqual(['wrong_token']);
  expect(statusOf(payment([transfer({ kind: 'unlisted', status: 'seen' })]))).toBe('pending');
});

test('the tolerance is the smaller of a share and a sum', () => {
  const rule = { basisPoints: 50, units: 500_000n };
  expect(toleranceOf(10n * TOKEN, rule)).toBe(50_000n);
  expect(toleranceOf(1_000n * TOKEN, rule)).toBe(500_000n);
});

const kinds = fc.constantFrom('counted', 'wrong_token', 'seized', 'unlisted') as fc.Arbitrary<
  TransactionFact['kind']
>;
const transfers = fc.array(
  fc.record({
    kind: kinds,
    status: fc.constantFrom('seen', 'final', 'gone') as fc.Arbitrary<TransactionFact['status']>,
    amount: fc.bigInt(1n, 200n * TOKEN),
    seenAt: fc.integer({ min: T0, max: EXPIRES + 2 * DAY }),
    isDecided: fc.boolean(),
  }),
  { maxLength: 6 },
);
const statuses = fc.constantFrom(
  'pending',
  'processing',
  'completed',
  'failed',
  'expired',
  'cancelled',
  'frozen',
) as fc.Arbitrary<PaymentStatus>;
const moments = fc.record({
  now: fc.integer({ min: T0, max: EXPIRES + 3 * DAY }),
  mayExpire: fc.boolean(),
  hasNewMoney: fc.boolean(),
  rateMoved: fc.boolean(),
});
const ALLOWED: Record<PaymentStatus, readonly PaymentStatus[]> = {
  pending: ['pending', 'processing', 'completed', 'expired', 'frozen'],
  processing: ['pending', 'processing', 'completed', 'expired', 'frozen'],
  frozen: ['pending', 'processing', 'completed', 'expired', 'frozen'],
  expired: ['expired', 'completed'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
};

test('whatever the facts: only allowed moves, completed only by enough final clean money, and looking twice is looking once', () => {
  fc.assert(
    fc.property(statuses, transfers, moments, (status, list, moment) => {
      const completedAt = status === 'completed' ? T0 + 5 : null;
      const facts = payment(list, { status, completedAt, payAmount: 100n * TOKEN });
      const next = nextStatus(facts, RULES, moment);
      expect(ALLOWED[status]).toContain(next);
      if (next === 'completed' && status !== 'completed')
        expect(receivedOf(list)).toBeGreaterThanOrEqual(100n * TOKEN - RULES.tolerance);
      const after = {
        ...facts,
        status: next,
        completedAt: next === 'completed' ? (completedAt ?? moment.now) : null,
      };
      if (status !== 'frozen') expect(nextStatus(after, RULES, moment)).toBe(next);
    }),
    { numRuns: 2_000 },
  );
});

const ofInvoice = (transactions: TransactionFact[], changed: Partial<PaymentFacts> = {}) =>
  payment(transactions, { expiresAt: null, ...changed });
const CLOSED = T0 + 600;
const YEAR = 365 * DAY;

test('the page of an invoice never expires by time, and thaws into an open one while the invoice is', () => {
  expect(statusOf(ofInvoice([]), { now: T0 + YEAR })).toBe('pending');
  expect(statusOf(ofInvoice([transfer({ seenAt: T0 + YEAR })]), { now: T0 + YEAR + 3 })).toBe('completed');
  const decided = transfer({ kind: 'seized', isDecided: true });
  expect(statusOf(ofInvoice([decided], { status: 'frozen' }), { now: T0 + YEAR })).toBe('pending');
  expect(statusOf(ofInvoice([decided], { status: 'frozen', closedAt: CLOSED }))).toBe('expired');
});

test('money for an invoice that is paid or void completes nothing, whenever it came', () => {
  for (const seenAt of [CLOSED - 10, CLOSED + 10]) {
    const facts = ofInvoice([transfer({ seenAt })], { status: 'expired', closedAt: CLOSED });
    expect(statusOf(facts, { now: CLOSED + 20 })).toBe('expired');
    expect(statusOf({ ...facts, status: 'processing' }, { now: CLOSED + 20 })).toBe('expired');
    expect(exceptionsOf(facts, RULES)).toEqual(seenAt > CLOSED ? ['late'] : []);
  }
  const canceled = { status: 'cancelled', canceledAt: CLOSED, closedAt: CLOSED } as const;
  expect(statusOf(ofInvoice([transfer({ seenAt: CLOSED + 10 })], canceled))).toBe('cancelled');
  expect(exceptionsOf(ofInvoice([transfer({ seenAt: CLOSED + 10 })], canceled), RULES)).toEqual(['canceled']);
});

test('a page ends with its invoice; what was seen of money is waited for, unless the invoice is paid already', () => {
  const busy = ofInvoice([transfer({ status: 'seen' })], { status: 'processing' });
  expect(endOfPage(ofInvoice([]), 'canceled')).toBe('cancelled');
  expect(endOfPage(ofInvoice([]), 'expired')).toBe('expired');
  expect(endOfPage(ofInvoice([]), 'paid')).toBe('expired');
  expect(endOfPage(busy, 'canceled')).toBeUndefined();
  expect(endOfPage(busy, 'expired')).toBeUndefined();
  expect(endOfPage(busy, 'paid')).toBe('processing');
  const frozen = ofInvoice([transfer({ kind: 'seized' })], { status: 'frozen' });
  expect(endOfPage(frozen, 'canceled')).toBe('frozen');
  expect(
    endOfPage(ofInvoice([transfer()], { status: 'completed', completedAt: T0 }), 'paid'),
  ).toBeUndefined();
});

const ends = fc.constantFrom('paid', 'expired', 'canceled') as fc.Arbitrary<PageEnd>;

test('a page of an invoice: no time ends it, closed it never completes, and it is over as soon as all is decided', () => {
  fc.assert(
    fc.property(
      statuses,
      transfers,
      moments,
      fc.tuple(ends, fc.boolean()),
      (status, list, moment, ending) => {
        const [end, isQuoteDue] = ending;
        const payAmount = isQuoteDue ? null : 100n * TOKEN;
        const open = ofInvoice(list, { status, payAmount, isQuoteDue });
        const settled = { ...open, status: nextStatus(open, RULES, moment) };
        if (status !== 'expired') expect(settled.status).not.toBe('expired');
        const state = invoicePageState(settled);
        const ended = endOfPage(settled, end);
        expect(ended === undefined).toBe(state === 'paid' || (state === 'busy' && end !== 'paid'));
        if (ended === undefined) return;
        const closed = { ...settled, status: ended, closedAt: moment.now, isQuoteDue: false };
        // Nothing follows from the end itself, as nobody looks at what is closed before more of it is decided.
        expect(nextStatus(closed, RULES, moment)).toBe(ended);
        expect(nextStatus(closed, RULES, moment)).not.toBe('completed');
        const all = list.map((t) => ({ ...t, status: t.status === 'seen' ? ('final' as const) : t.status }));
        const decided = { ...closed, transactions: all.map((t) => ({ ...t, isDecided: true })) };
        const last = { ...decided, status: nextStatus(decided, RULES, moment) };
        expect(invoicePageState(last)).toBe('over');
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a charge is decided once, and nothing but its outcome decides it', () => {
  const outcomes = fc.constantFrom('made', 'unneeded', 'seized', 'failed') as fc.Arbitrary<ChargeOutcome>;
  fc.assert(
    fc.property(statuses, outcomes, outcomes, (status, first, second) => {
      const decided = afterCharge(status, first);
      expect(decided === undefined).toBe(status !== 'processing');
      if (decided === undefined) return;
      expect(afterCharge(decided, second)).toBeUndefined();
      expect(decided === 'completed').toBe(first === 'made');
      const took = transfer({ kind: first === 'seized' ? 'seized' : 'counted' });
      const facts = payment([took], { status: decided, expiresAt: null, closedAt: T0 });
      expect(nextStatus(facts, RULES, MOMENT)).toBe(decided);
    }),
  );
});
