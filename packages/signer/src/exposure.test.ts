import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approved, Bench, itemAt, payBytes, payment, request, transferBytes } from './test-requests.ts';

const LIMIT = 40_000_000n;
const BUDGET = 5_000_000n;

const step = fc.record({
  batch: fc.nat(2),
  place: fc.nat(2),
  amount: fc.integer({ min: 1, max: 20_000_000 }),
  isSingle: fc.boolean(),
  sequence: fc.nat(6),
  minutes: fc.integer({ min: 0, max: 40 }),
});

/**
 * Whoever writes every row asks for whatever he likes, without people. However the chain then chooses among all that was
 * signed, one transaction for each sequence, and the contract one payment for each item: an hour's limit and the budget
 * for second transfers bound what leaves.
 */
test('whatever is asked for, no more can be paid than the limits let out', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const bench = new Bench((policy) => {
        const most = { per_transfer: '20', per_hour: '40', per_day: '900', per_merchant_day: '900' };
        Object.assign(policy.payouts, { ...most, approve_above: '900', resend_per_day: '5' });
      });
      const contract = new Map<string, bigint>();
      const singles: { amount: bigint; item: string }[] = [];
      const bodies = new Map<number, string>();
      let ordinal = 0;
      for (const { batch, place, amount, isSingle, sequence, minutes } of steps) {
        bench.now += minutes * 60_000;
        const id = `01890000-0000-7000-8000-${String(batch).padStart(12, '0')}`;
        const items = [0, 1, 2].map((at) => itemAt(at, at === place ? String(amount) : '1'));
        const purpose = payment({ id, items, places: [place] });
        const bytes = { ...(isSingle ? transferBytes(purpose) : payBytes(purpose)), nonce: sequence };
        const asked = request({ ordinal, bytes, purpose });
        if (bench.outcome(asked) !== 'signed') continue;
        ordinal += 1;
        // A sequence is never signed for two contents.
        expect(bodies.get(sequence) ?? asked.unsigned).toBe(asked.unsigned);
        bodies.set(sequence, asked.unsigned);
        const item = `${id} ${place}`;
        const before = contract.get(item) ?? 0n;
        if (isSingle) singles.push({ amount: BigInt(amount), item });
        else contract.set(item, before > BigInt(amount) ? before : BigInt(amount));
        const byContract = [...contract.values()].reduce((sum, one) => sum + one, 0n);
        expect(bench.memory.hour('payout').total(bench.now)).toBeLessThanOrEqual(LIMIT);
        expect(bench.memory.day('payout').total(bench.now)).toBeGreaterThanOrEqual(
          singles.reduce((sum, one) => sum + one.amount, 0n) + byContract,
        );
        const twice = singles.filter((one, i) =>
          singles.slice(0, i).some((other) => other.item === one.item),
        );
        expect(twice.reduce((sum, one) => sum + one.amount, 0n)).toBeLessThanOrEqual(BUDGET);
      }
    }),
    { numRuns: 150 },
  );
});

const mixed = fc.record({
  batch: fc.nat(1),
  place: fc.nat(2),
  amount: fc.integer({ min: 1, max: 10_000_000 }),
  isSingle: fc.boolean(),
  isApproved: fc.boolean(),
});

/** Of each item the contract pays one signature, so the most that went without people is what others can get by it. */
test('whatever people have approved, no more goes without them than the day lets out', () => {
  fc.assert(
    fc.property(fc.array(mixed, { minLength: 1, maxLength: 40 }), (steps) => {
      const bench = new Bench((policy) => {
        const most = { per_transfer: '20', per_hour: '900', per_day: '900', per_merchant_day: '900' };
        const free = { approve_above: '10', unapproved_per_day: '25', resend_per_day: '900' };
        Object.assign(policy.payouts, { ...most, ...free });
      });
      const contract = new Map<string, bigint>();
      let singles = 0n;
      let ordinal = 0;
      for (const { batch, place, amount, isSingle, isApproved } of steps) {
        const id = `01890000-0000-7000-8000-${String(batch).padStart(12, '0')}`;
        const items = [0, 1, 2].map((at) => itemAt(at, at === place ? String(amount) : '1'));
        const plain = payment({ id, items, places: [place] });
        const purpose = isApproved ? approved(plain) : plain;
        const bytes = isSingle ? transferBytes(purpose) : payBytes(purpose);
        if (bench.outcome(request({ ordinal, bytes, purpose })) !== 'signed') continue;
        ordinal += 1;
        if (isApproved) continue;
        const [item, units] = [`${batch} ${place}`, BigInt(amount)];
        if (isSingle) singles += units;
        else contract.set(item, units > (contract.get(item) ?? 0n) ? units : (contract.get(item) ?? 0n));
        const byContract = [...contract.values()].reduce((sum, one) => sum + one, 0n);
        expect(byContract + singles).toBeLessThanOrEqual(25_000_000n);
      }
    }),
    { numRuns: 200 },
  );
});
