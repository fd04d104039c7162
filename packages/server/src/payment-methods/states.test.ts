import { PAYMENT_METHOD_STATUSES } from '@florin/contract/schemas';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MandateState } from '../chains/port/index.ts';
import {
  declineCode,
  ELSEWHERE_SECONDS,
  isAsStored,
  isElsewhere,
  judged,
  type MandateReading,
  mustWait,
  needsFollowUp,
  nextReading,
  readingOf,
  statusAfter,
} from './states.ts';

const units = fc.bigInt({ min: 0n, max: 20n });
const anyStatus = fc.constantFrom(...PAYMENT_METHOD_STATUSES);
const shown = fc.record({
  balance: units,
  allowance: units,
  isRevoked: fc.boolean(),
  isEnded: fc.boolean(),
});
const anyReading: fc.Arbitrary<MandateReading> = fc.oneof(
  { weight: 5, arbitrary: shown },
  fc.constant('unavailable' as const),
);
const anyState: fc.Arbitrary<MandateState> = fc.record({
  state: fc.constantFrom('active', 'revoked', 'missing'),
  balance: units,
  allowance: units,
});

describe('a payment method', () => {
  test('I7: revoked is final, and nothing but the chain revokes by a reading', () => {
    fc.assert(
      fc.property(anyStatus, anyReading, units, (before, reading, need) => {
        const after = statusAfter(before, reading, need);
        if (before === 'revoked') expect(after).toBe('revoked');
        else expect(after === 'revoked').toBe(reading !== 'unavailable' && reading.isRevoked);
      }),
    );
  });

  test('is unknown exactly while the chain cannot be read', () => {
    fc.assert(
      fc.property(
        anyStatus.filter((status) => status !== 'revoked'),
        anyReading,
        units,
        (before, reading, need) => {
          expect(statusAfter(before, reading, need) === 'unknown').toBe(reading === 'unavailable');
        },
      ),
    );
  });

  test('is active exactly when a charge of what is due next would be sent', () => {
    fc.assert(
      fc.property(anyStatus, anyReading, units, (before, reading, need) => {
        const isActive = statusAfter(before, reading, need) === 'active';
        expect(isActive).toBe(before !== 'revoked' && declineCode(reading, need) === undefined);
      }),
    );
  });

  test('a reading before a charge is left unwritten exactly where the charge goes and writing would change nothing', () => {
    const stored = fc.record({ status: anyStatus, balance: units, allowance: units });
    const same = fc.record({ balance: fc.boolean(), allowance: fc.boolean() });
    fc.assert(
      fc.property(stored, shown, same, units, (before, other, is, amount) => {
        const balance = is.balance ? before.balance : other.balance;
        const allowance = is.allowance ? before.allowance : other.allowance;
        const reading = { ...other, balance, allowance };
        const isSame =
          statusAfter(before.status, reading, amount) === before.status &&
          balance === before.balance &&
          allowance === before.allowance;
        const isSent = before.status === 'active' && declineCode(reading, amount) === undefined;
        expect(isAsStored(before, reading, amount)).toBe(isSent && isSame);
        expect(isAsStored(before, 'unavailable', amount)).toBe(false);
      }),
    );
  });

  test('more money or allowance never makes a charge fail that went before; a larger one never succeeds instead', () => {
    fc.assert(
      fc.property(shown, units, units, units, (reading, amount, more, larger) => {
        if (declineCode(reading, amount) !== undefined) {
          expect(declineCode(reading, amount + larger)).toBeDefined();
          return;
        }
        const richer = { ...reading, balance: reading.balance + more, allowance: reading.allowance + more };
        expect(declineCode(richer, amount)).toBeUndefined();
      }),
    );
  });

  test('a charge waits only for others of its wallet, and only where it would go without them', () => {
    fc.assert(
      fc.property(anyReading, units, units, (reading, amount, others) => {
        const waits = mustWait(reading, amount, others);
        const goesAlone = declineCode(reading, amount) === undefined;
        const goesWithThem = declineCode(reading, amount + others) === undefined;
        expect(waits).toBe(goesAlone && !goesWithThem);
      }),
    );
  });

  test('what is on the chain no more allows nothing; a term that is over allows nothing', () => {
    fc.assert(
      fc.property(anyState, fc.option(fc.nat(10)), fc.nat(10), (state, endsAt, now) => {
        const reading = readingOf(state, { endsAt }, now);
        const isOver = endsAt !== null && now >= endsAt;
        if (state.state !== 'revoked' && (state.state === 'missing' || isOver))
          expect(declineCode(reading, 1n)).toBe('insufficient_allowance');
        if (state.state === 'revoked') expect(declineCode(reading, 0n)).toBe('mandate_revoked');
      }),
    );
  });

  test('until its activation has ended, a mandate that is not revoked is shown as it was signed', () => {
    const signed = fc.record({ balance: units, allowance: units });
    fc.assert(
      fc.property(anyState, signed, fc.nat(10), (state, awaited, now) => {
        const reading = readingOf(state, { endsAt: null, awaited }, now);
        const { balance, allowance } = state.state === 'revoked' ? state : awaited;
        expect(reading).toEqual({ balance, allowance, isRevoked: state.state === 'revoked', isEnded: false });
      }),
    );
  });

  test('what only becomes less is no news while the status stays', () => {
    fc.assert(
      fc.property(anyStatus, shown, units, units, (status, { balance, allowance }, paid, pulled) => {
        const before = { status, balance: balance + paid, allowance: allowance + pulled };
        expect(needsFollowUp(before, { status, balance, allowance })).toBe(false);
        const isMore = paid > 0n || pulled > 0n;
        expect(needsFollowUp({ status, balance, allowance }, before)).toBe(isMore);
      }),
    );
  });

  test('is read within the requested time, at the beginning of a slot', () => {
    const time = fc.integer({ min: 0, max: 2 ** 33 });
    fc.assert(
      fc.property(
        time,
        fc.integer({ min: 60, max: 604_800 }),
        fc.integer({ min: 0, max: 5 }),
        (now, every, late) => {
          const next = nextReading(now, every);
          expect(next).toBeGreaterThan(now);
          expect(next).toBeLessThanOrEqual(now + every);
          const slot = Math.floor(every / 24);
          const later = nextReading(next + Math.min(late, slot - 1), every);
          expect(later % slot).toBe(0);
          expect(later - next).toBeLessThanOrEqual(every + late);
        },
      ),
    );
  });
});

test('a mandate that a collector had is not ended by another collector that does not know it', () => {
  const missing = { state: 'missing', balance: 5n, allowance: 5n } as const;
  const awaited = { balance: 1n, allowance: 1n };
  expect(isElsewhere(missing, {}, { keepsMandates: true })).toBe(true);
  // Not yet there; revoked, which is said of it; and on spl, where an approval ends by another one.
  expect(isElsewhere(missing, { awaited }, { keepsMandates: true })).toBe(false);
  expect(isElsewhere({ ...missing, state: 'revoked' }, {}, { keepsMandates: true })).toBe(false);
  expect(isElsewhere(missing, {}, { keepsMandates: false })).toBe(false);
  // Into an earlier wallet of ours, whatever the payer's wallet allows.
  expect(isElsewhere({ ...missing, state: 'active', isUnserved: true }, {}, { keepsMandates: false })).toBe(
    true,
  );
});

test('a mandate that stays elsewhere cannot be read for some days, and allows nothing from then on', () => {
  const at = (since: number | null, now: number) =>
    judged({ balance: 5n, elsewhere_since: since }, 'elsewhere', now);
  expect(at(null, 1_000)).toBe('unavailable');
  expect(at(1_000, 999 + ELSEWHERE_SECONDS)).toBe('unavailable');
  const over = at(1_000, 1_000 + ELSEWHERE_SECONDS);
  expect(over).toMatchObject({ balance: 5n, isRevoked: false });
  expect(declineCode(over, 1n)).toBe('insufficient_allowance');
  expect(judged({ balance: 5n, elsewhere_since: 0 }, 'unavailable', 1_000 + ELSEWHERE_SECONDS)).toBe(
    'unavailable',
  );
});
