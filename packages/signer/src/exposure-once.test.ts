import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, toHex } from './bytes.ts';
import { solanaAddressOf } from './solana/address.ts';
import { decodeSignedSolana } from './solana/message.ts';
import {
  chargeOf,
  itemOf,
  OnceBench,
  paymentOn,
  solanaCharging,
  solanaPaying,
  solanaRequest,
  tronPaying,
  tronRequest,
} from './test-once.ts';
import { decodeSignedTron, decodeTronTransaction } from './tron/transaction.ts';

const LIMIT = 40_000_000n;
const BUDGET = 5_000_000n;
const MINUTE = 60_000;
const EXPIRY_MARGIN = 5 * MINUTE;

const step = fc.record({
  network: fc.constantFrom('trc20' as const, 'spl' as const),
  batch: fc.nat(1),
  place: fc.nat(1),
  amount: fc.integer({ min: 1, max: 12_000_000 }),
  /** Whose number it asks for: its own, or an earlier one's. */
  attempt: fc.integer({ min: -2, max: 0 }),
  block: fc.nat(2),
  minutes: fc.integer({ min: 0, max: 12 }),
  restarts: fc.boolean(),
});

/**
 * Whoever writes every row asks for whatever he likes, without people. However the networks then choose among all that was signed,
 * each transaction once: an attempt moves coins once, an hour lets no more out than its limit, and an item is paid by two transactions
 * that could both be mined only within the budget.
 */
test('trc20 and spl: whatever is asked for, no more can be paid than the limits let out', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const bench = new OnceBench((policy) => {
        const most = { per_transfer: '12', per_hour: '40', per_day: '900', per_merchant_day: '900' };
        Object.assign(policy.payouts, { ...most, approve_above: '900', resend_per_day: '5' });
        Object.assign(policy.networks.trc20, { native_fee_per_day: '9000000000' });
      });
      /** Signed bytes by attempt, and each transaction with what it pays. */
      const raws = new Map<string, string>();
      const paid: { item: string; amount: bigint; at: number; deadFrom: number | null }[] = [];
      const next = { trc20: 0, spl: 0 };
      for (const { network, batch, place, amount, attempt, block, minutes, restarts } of steps) {
        bench.now += minutes * MINUTE;
        if (restarts) bench.restart();
        const id = `01890000-0000-7000-8000-${String(batch).padStart(12, '0')}`;
        const items = [0, 1].map((at) => itemOf(network, at, at === place ? String(amount) : '1'));
        const purpose = paymentOn(network, { id, items, places: [place] });
        const ordinal = Math.max(0, next[network] + attempt);
        const asked =
          network === 'trc20'
            ? tronRequest({
                ordinal,
                purpose,
                bytes: { contract: tronPaying(purpose), time: bench.now + block },
              })
            : solanaRequest({
                ordinal,
                purpose,
                bytes: {
                  steps: solanaPaying(purpose),
                  blockhash: solanaAddressOf(new Uint8Array(32).fill(block + 1)),
                },
              });
        const lines = bench.entries.length;
        if (bench.outcome(asked) !== 'signed') continue;
        const raw = bench.sign(asked);
        const { attemptId } = asked.attempt;
        // One transaction for each attempt, and no transaction of two attempts.
        expect(raws.get(attemptId) ?? raw).toBe(raw);
        raws.set(attemptId, raw);
        expect(new Set(raws.values()).size).toBe(raws.size);
        if (bench.entries.length === lines) continue;
        next[network] += 1;
        const bytes = fromHex(raw);
        expect(
          toHex(network === 'trc20' ? decodeSignedTron(bytes).rawData : decodeSignedSolana(bytes).message),
        ).toBe(asked.unsigned);
        const { expiration = null } =
          network === 'trc20' ? decodeTronTransaction(fromHex(asked.unsigned)) : {};
        const deadFrom = expiration === null ? null : Number(expiration) + EXPIRY_MARGIN;
        paid.push({ item: `${network} ${id} ${place}`, amount: BigInt(amount), at: bench.now, deadFrom });
      }
      for (const { at } of paid) {
        const within = paid.filter((one) => one.at <= at && one.at > at - 60 * MINUTE);
        expect(within.reduce((sum, one) => sum + one.amount, 0n)).toBeLessThanOrEqual(LIMIT);
        const twice = paid.filter(
          (one, i) =>
            one.at <= at &&
            one.at > at - 24 * 60 * MINUTE &&
            paid
              .slice(0, i)
              .some(
                (other) => other.item === one.item && (other.deadFrom === null || other.deadFrom > one.at),
              ),
        );
        expect(twice.reduce((sum, one) => sum + one.amount, 0n)).toBeLessThanOrEqual(BUDGET);
      }
    }),
    { numRuns: 100 },
  );
});

test('spl: whatever is charged, no more is pulled in a day than the policy says, and twice only within the budget', () => {
  const asked = fc.record({
    charge: fc.nat(4),
    amount: fc.integer({ min: 1, max: 250_000_000 }),
    block: fc.nat(3),
    hours: fc.integer({ min: 0, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 30 }), (steps) => {
      const bench = new OnceBench();
      const pulled: { id: string; amount: bigint; at: number; isSecond: boolean }[] = [];
      for (const { charge, amount, block, hours } of steps) {
        bench.now += hours * 60 * MINUTE;
        const id = `01890000-0000-7000-8000-${String(charge).padStart(12, '0')}`;
        const purpose = chargeOf({ id, amount: String(amount) });
        const blockhash = solanaAddressOf(new Uint8Array(32).fill(block + 1));
        const request = solanaRequest({
          ordinal: pulled.length,
          purpose,
          bytes: { steps: solanaCharging(purpose), blockhash },
        });
        if (bench.outcome(request) !== 'signed') continue;
        const earlier = pulled.filter((one) => one.id === id);
        expect(earlier.every((one) => one.amount === BigInt(amount))).toBe(true);
        pulled.push({ id, amount: BigInt(amount), at: bench.now, isSecond: earlier.length > 0 });
      }
      const sum = (list: readonly { amount: bigint }[]) => list.reduce((all, { amount }) => all + amount, 0n);
      for (const { at } of pulled) {
        const day = pulled.filter((one) => one.at <= at && one.at > at - 24 * 60 * MINUTE);
        expect(sum(day)).toBeLessThanOrEqual(500_000_000n);
        expect(sum(day.filter(({ isSecond }) => isSecond))).toBeLessThanOrEqual(100_000_000n);
      }
    }),
    { numRuns: 100 },
  );
});
