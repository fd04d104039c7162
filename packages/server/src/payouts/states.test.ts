import {
  PAYOUT_BATCH_STATUSES,
  type PayoutBatchStatus,
  type ValidationError,
} from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fail } from '../platform/fail.ts';
import {
  BATCH_MOVES,
  checkLimits,
  checkMaySubmit,
  decideSubmit,
  finalStatus,
  isReserved,
  mayEdit,
  type Sized,
  totalsOf,
} from './states.ts';

/** The moves of docs/payouts.md, written here a second time. */
const TABLE: [from: PayoutBatchStatus, to: PayoutBatchStatus][] = [
  ['draft', 'pending_approval'],
  ['draft', 'pending'],
  ['draft', 'needs_fix'],
  ['draft', 'canceled'],
  ['needs_fix', 'pending_approval'],
  ['needs_fix', 'pending'],
  ['needs_fix', 'canceled'],
  ['pending_approval', 'pending'],
  ['pending_approval', 'rejected'],
  ['pending_approval', 'canceled'],
  ['pending', 'processing'],
  ['pending', 'canceled'],
  ['processing', 'completed'],
  ['processing', 'partially_completed'],
  ['processing', 'failed'],
];
const SUBMITTED: PayoutBatchStatus[] = ['pending', 'pending_approval', 'processing'];

const finding = (index: number, code: ValidationError['code']): ValidationError => ({
  field: `items[${index}].${code === 'network_mismatch' ? 'network' : 'address'}`,
  code,
  message: code,
});
const sized: fc.Arbitrary<Sized> = fc.record({
  amount: fc.bigInt(1n, 10n ** 15n),
  fee: fc.bigInt(0n, 10n ** 12n),
  errors: fc.oneof(fc.constant([]), fc.constant([finding(0, 'address_invalid')])),
});
const codeOf = (run: () => void) => {
  try {
    run();
    return 'passed';
  } catch (error) {
    return error instanceof Fail ? error.code : error;
  }
};

test('the moves are those of the design, and no other', () => {
  const moves = Object.entries(BATCH_MOVES.table).flatMap(([from, tos]) =>
    tos.map((to) => `${from} → ${to}`),
  );
  expect(moves.sort()).toEqual(TABLE.map(([from, to]) => `${from} → ${to}`).sort());
});

test('every state can be reached from draft, and every path ends', () => {
  const reached = new Set<PayoutBatchStatus>(['draft']);
  for (const from of reached) for (const to of BATCH_MOVES.table[from]) reached.add(to);
  expect([...reached].sort()).toEqual([...PAYOUT_BATCH_STATUSES].sort());
  const ends = PAYOUT_BATCH_STATUSES.filter((status) => BATCH_MOVES.isFinal(status));
  expect(ends.sort()).toEqual(['canceled', 'completed', 'failed', 'partially_completed', 'rejected']);
});

test('a batch that can be edited or submitted is not reserved, and a reserved one can still release its money', () => {
  for (const status of PAYOUT_BATCH_STATUSES) {
    expect(codeOf(() => checkMaySubmit(status))).toBe(mayEdit(status) ? 'passed' : 'batch_cannot_submit');
    expect(mayEdit(status) && isReserved(status)).toBe(false);
    if (isReserved(status)) expect(BATCH_MOVES.allows(status, 'canceled')).toBe(true);
    if (SUBMITTED.includes(status)) expect(mayEdit(status)).toBe(false);
  }
});

test('counts and sums add up for any items', () => {
  fc.assert(
    fc.property(fc.array(sized, { minLength: 1, maxLength: 200 }), (items) => {
      const totals = totalsOf(items);
      expect(totals.valid + totals.invalid).toBe(totals.total);
      expect(totals.total).toBe(items.length);
      const valid = items.filter((item) => item.errors.length === 0);
      expect(totals.amount).toBe(valid.reduce((sum, item) => sum + item.amount, 0n));
      expect(totals.fees).toBe(valid.reduce((sum, item) => sum + item.fee, 0n));
      expect(totals.requested).toBe(items.reduce((sum, item) => sum + item.amount, 0n));
      expect(totals.errors.length).toBe(totals.invalid);
    }),
  );
});

test('minimum and maximum are both allowed sums, the cents beside them are not', () => {
  const limits = { min: 100n, max: 1_000n, format: String };
  const verdicts = [0n, 99n, 100n, 101n, 999n, 1_000n, 1_001n, 10n ** 300n].map((sum) =>
    codeOf(() => checkLimits(sum, limits)),
  );
  expect(verdicts).toEqual([
    'batch_amount_too_low',
    'batch_amount_too_low',
    'passed',
    'passed',
    'passed',
    'passed',
    'batch_amount_limit_exceeded',
    'batch_amount_limit_exceeded',
  ]);
});

test('the sum and the findings decide the status after a submit, always by an allowed move', () => {
  const errors = fc.array(
    fc.tuple(
      fc.nat(3),
      fc.constantFrom('address_risk' as const, 'address_invalid' as const, 'network_mismatch' as const),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(
      errors,
      errors,
      fc.bigInt(1n, 200n),
      fc.boolean(),
      (before, now, requested, needsApproval) => {
        const findings = now.map(([index, code]) => finding(index, code));
        const totals = { ...totalsOf([]), invalid: findings.length, errors: findings, requested };
        const known = before.map(([index, code]) => finding(index, code));
        const decision = decideSubmit(known, totals, needsApproval);
        expect(BATCH_MOVES.table.draft).toContain(decision.to);
        expect(BATCH_MOVES.allows('needs_fix', decision.to)).toBe(true);
        expect(decision.to === 'needs_fix').toBe(findings.length > 0);
        if (decision.to !== 'needs_fix') {
          expect(decision.to).toBe(needsApproval ? 'pending_approval' : 'pending');
          return;
        }
        const listedBefore = new Set(before.filter(([, code]) => code === 'address_risk').map(([i]) => i));
        const isNew = now.some(([i, code]) => code === 'address_risk' && !listedBefore.has(i));
        expect(decision.refusal).toBe(isNew ? 'address_risk_rejected' : 'batch_cannot_submit');
      },
    ),
  );
});

test('a batch ends when its last item is decided, with the status that its items give', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(200), fc.nat(200), (succeeded, failed, open) => {
      const total = succeeded + failed + open;
      fc.pre(total > 0);
      const end = finalStatus({ total, succeeded, failed });
      if (open > 0) expect(end).toBeUndefined();
      else if (failed === 0) expect(end).toBe('completed');
      else expect(end).toBe(succeeded === 0 ? 'failed' : 'partially_completed');
      if (end !== undefined) expect(BATCH_MOVES.table.processing).toContain(end);
    }),
  );
});
