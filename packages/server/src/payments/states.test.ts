import type { PaymentStatus } from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  afterCharge,
  type ChargeSettlement,
  exceptionsOf,
  invoicePageState,
  nextStatus,
  type PageEnd,
  type PaymentFacts,
  type Rules,
  receivedAmount,
  type StatusContext,
  statusAfterPageEnd,
  type TransactionFact,
  toleranceOf,
  transactionKind,
} from './states.ts';

const T0 = 1_800_000_000;
const EXPIRES = T0 + 1_800;
const DAY = 86_400;
const TOKEN = 1_000_000n;
const RULES: Rules = { tolerance: 500_000n, lateSeconds: DAY };
const CONTEXT: StatusContext = { now: T0 + 60, mayExpire: true, hasNewMoney: true, rateMoved: false };

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
const statusOf = (facts: PaymentFacts, context: Partial<StatusContext> = {}) =>
  nextStatus(facts, RULES, { ...CONTEXT, ...context });

test('K1: seen is processing, gone is open again, final is paid', () => {
  expect(statusOf(payment([]))).toBe('pending');
  expect(statusOf(payment([transfer({ status: 'seen' })]))).toBe('processing');
  expect(statusOf(payment([transfer({ status: 'gone' })], { status: 'processing' }))).toBe('pending');
  expect(statusOf(payment([transfer()], { status: 'processing' }))).toBe('completed');
});

test('K3: parts add up, a little may be missing, more is underpaid, too much is overpaid', () => {
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

test('K3: late money completes within a day at nearly the same rate, once it is final, and is held otherwise', () => {
  const late = (changed: Partial<TransactionFact> = {}) =>
    payment([transfer({ seenAt: EXPIRES + 1, ...changed })], { status: 'expired' });
  expect(statusOf(late())).toBe('completed');
  expect(statusOf(late({ status: 'seen' }))).toBe('expired');
  expect(statusOf(late({ seenAt: EXPIRES + DAY }))).toBe('completed');
  expect(statusOf(late({ seenAt: EXPIRES + DAY + 1 }))).toBe('expired');
  expect(statusOf(late(), { rateMoved: true })).toBe('expired');
  // A refund that failed gives money back, but nobody judges anew.
  expect(statusOf(late(), { hasNewMoney: false })).toBe('expired');
  expect(nextStatus(late(), { ...RULES, lateSeconds: 0 }, CONTEXT)).toBe('expired');
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

test('a sanctioned sender freezes the payment, clean money still pays it, and a decision unfreezes it', () => {
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

test('K4: another token or option is shown and does not count', () => {
  const fixed = { currency: 'USDT', network: 'erc20' };
  const other = { currency: 'USDC', network: 'erc20' };
  const clean = { network: 'erc20', isSanctionedSender: false };
  expect(transactionKind({ ...clean, currency: 'USDT' }, fixed, fixed)).toBe('counted');
  expect(transactionKind({ ...clean, currency: 'USDC' }, fixed, fixed)).toBe('wrong_token');
  expect(transactionKind({ ...clean, currency: 'USDC' }, fixed, other)).toBe('wrong_token');
  expect(transactionKind({ ...clean, currency: null }, fixed, fixed)).toBe('unlisted');
  expect(transactionKind({ ...clean, currency: 'USDT', isSanctionedSender: true }, fixed, fixed)).toBe(
    'seized',
  );
  const facts = payment([transfer({ kind: 'wrong_token' }), transfer({ kind: 'unlisted' })]);
  expect(statusOf(facts)).toBe('pending');
  expect(exceptionsOf(facts, RULES)).toEqual(['wrong_token']);
  expect(statusOf(payment([transfer({ kind: 'unlisted', status: 'seen' })]))).toBe('pending');
});

test('the tolerance is the smaller of a share and a fixed amount', () => {
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
const contexts = fc.record({
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

test('any facts: only allowed moves, completed only by enough final clean money, and deciding is idempotent', () => {
  fc.assert(
    fc.property(statuses, transfers, contexts, (status, list, context) => {
      const completedAt = status === 'completed' ? T0 + 5 : null;
      const facts = payment(list, { status, completedAt, payAmount: 100n * TOKEN });
      const next = nextStatus(facts, RULES, context);
      expect(ALLOWED[status]).toContain(next);
      if (next === 'completed' && status !== 'completed')
        expect(receivedAmount(list)).toBeGreaterThanOrEqual(100n * TOKEN - RULES.tolerance);
      const after = {
        ...facts,
        status: next,
        completedAt: next === 'completed' ? (completedAt ?? context.now) : null,
      };
      if (status !== 'frozen') expect(nextStatus(after, RULES, context)).toBe(next);
    }),
    { numRuns: 2_000 },
  );
});

const ofInvoice = (transactions: TransactionFact[], changed: Partial<PaymentFacts> = {}) =>
  payment(transactions, { expiresAt: null, ...changed });
const CLOSED = T0 + 600;
const YEAR = 365 * DAY;

test('the page of an invoice never expires by time, and is open again after a freeze while the invoice is open', () => {
  expect(statusOf(ofInvoice([]), { now: T0 + YEAR })).toBe('pending');
  expect(statusOf(ofInvoice([transfer({ seenAt: T0 + YEAR })]), { now: T0 + YEAR + 3 })).toBe('completed');
  const decided = transfer({ kind: 'seized', isDecided: true });
  expect(statusOf(ofInvoice([decided], { status: 'frozen' }), { now: T0 + YEAR })).toBe('pending');
  expect(statusOf(ofInvoice([decided], { status: 'frozen', closedAt: CLOSED }))).toBe('expired');
});

test('money for a paid or void invoice completes nothing, whenever it came', () => {
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

test('a page ends with its invoice, after seen money is decided, unless the invoice is already paid', () => {
  const busy = ofInvoice([transfer({ status: 'seen' })], { status: 'processing' });
  expect(statusAfterPageEnd(ofInvoice([]), 'canceled')).toBe('cancelled');
  expect(statusAfterPageEnd(ofInvoice([]), 'expired')).toBe('expired');
  expect(statusAfterPageEnd(ofInvoice([]), 'paid')).toBe('expired');
  expect(statusAfterPageEnd(busy, 'canceled')).toBeUndefined();
  expect(statusAfterPageEnd(busy, 'expired')).toBeUndefined();
  expect(statusAfterPageEnd(busy, 'paid')).toBe('processing');
  const frozen = ofInvoice([transfer({ kind: 'seized' })], { status: 'frozen' });
  expect(statusAfterPageEnd(frozen, 'canceled')).toBe('frozen');
  expect(
    statusAfterPageEnd(ofInvoice([transfer()], { status: 'completed', completedAt: T0 }), 'paid'),
  ).toBeUndefined();
});

const ends = fc.constantFrom('paid', 'expired', 'canceled') as fc.Arbitrary<PageEnd>;

test('a page of an invoice: time never ends it, a closed one never completes, and it ends once all is decided', () => {
  fc.assert(
    fc.property(
      statuses,
      transfers,
      contexts,
      fc.tuple(ends, fc.boolean()),
      (status, list, context, ending) => {
        const [end, isQuoteDue] = ending;
        const payAmount = isQuoteDue ? null : 100n * TOKEN;
        const open = ofInvoice(list, { status, payAmount, isQuoteDue });
        const settled = { ...open, status: nextStatus(open, RULES, context) };
        if (status !== 'expired') expect(settled.status).not.toBe('expired');
        const state = invoicePageState(settled);
        const ended = statusAfterPageEnd(settled, end);
        expect(ended === undefined).toBe(state === 'paid' || (state === 'money' && end !== 'paid'));
        if (ended === undefined) return;
        const closed = { ...settled, status: ended, closedAt: context.now, isQuoteDue: false };
        // Nothing follows from the end itself, as nobody looks at what is closed before more of it is decided.
        expect(nextStatus(closed, RULES, context)).toBe(ended);
        expect(nextStatus(closed, RULES, context)).not.toBe('completed');
        const all = list.map((t) => ({ ...t, status: t.status === 'seen' ? ('final' as const) : t.status }));
        const decided = { ...closed, transactions: all.map((t) => ({ ...t, isDecided: true })) };
        const last = { ...decided, status: nextStatus(decided, RULES, context) };
        expect(invoicePageState(last)).toBe('expired');
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a charge is decided once, by its outcome alone', () => {
  const outcomes = fc.constantFrom('made', 'unneeded', 'seized', 'failed') as fc.Arbitrary<ChargeSettlement>;
  fc.assert(
    fc.property(statuses, outcomes, outcomes, (status, first, second) => {
      const decided = afterCharge(status, first);
      expect(decided === undefined).toBe(status !== 'processing');
      if (decided === undefined) return;
      expect(afterCharge(decided, second)).toBeUndefined();
      expect(decided === 'completed').toBe(first === 'made');
      const took = transfer({ kind: first === 'seized' ? 'seized' : 'counted' });
      const facts = payment([took], { status: decided, expiresAt: null, closedAt: T0 });
      expect(nextStatus(facts, RULES, CONTEXT)).toBe(decided);
    }),
  );
});
