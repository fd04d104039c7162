import { formatAmount, NETWORKS, parseAmount } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scaled } from '../../../../test/scale.ts';
import { type FeeRule, feeFor, PAYOUT_SETTINGS } from './settings.ts';
import { totalsOf } from './states.ts';

const CENT = 10_000n;
const rule = (changed: Partial<FeeRule> = {}): FeeRule => ({
  feeBasisPoints: 10,
  feeErc20: 1_000_000n,
  feeTrc20: 1_000_000n,
  feeSpl: 100_000n,
  ...changed,
});
const cents = (min: bigint, max: bigint) => fc.bigInt(min, max).map((n) => n * CENT);

test.each([
  ['erc20', '1000', '2.00'],
  ['trc20', '1000', '2.00'],
  ['spl', '1000', '1.10'],
  ['erc20', '0.01', '1.01'],
  ['spl', '0.01', '0.11'],
  ['erc20', '10.00', '1.01'],
  ['erc20', '10.01', '1.02'],
  ['erc20', '999999.99', '1001.00'],
] as const)('the fee of an item on %s of %s is %s with the defaults', (network, amount, fee) => {
  expect(formatAmount(feeFor(rule(), network, parseAmount(amount)))).toBe(fee);
});

test('a network without a flat fee and without basis points is free', () => {
  expect(feeFor(rule({ feeSpl: 0n, feeBasisPoints: 0 }), 'spl', 5n * CENT)).toBe(0n);
});

test('H3: for random splits the parts add up to the whole, and no fee is below its exact value or a cent above', () => {
  let splits = 0;
  const items = fc.array(cents(1n, 10n ** 9n), { minLength: 1, maxLength: 200, size: 'max' });
  const network = fc.constantFrom(...NETWORKS);
  const basisPoints = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(items, network, basisPoints, cents(0n, 500n), (amounts, on, feeBasisPoints, flat) => {
      const rules = rule({ feeBasisPoints, feeErc20: flat, feeTrc20: flat, feeSpl: flat });
      const sized = amounts.map((amount) => ({ amount, fee: feeFor(rules, on, amount), errors: [] }));
      for (const { amount, fee } of sized) {
        const exact = amount * BigInt(feeBasisPoints) + flat * 10_000n;
        if (fee % CENT !== 0n || fee * 10_000n < exact || (fee - CENT) * 10_000n >= exact) {
          throw new Error(`${fee} is not ${exact}/10000 rounded up to the cent`);
        }
      }
      const totals = totalsOf(sized);
      const whole = totals.amount + totals.fees;
      // Through the strings of the API, which a merchant adds up.
      const written = sized.flatMap(({ amount, fee }) => [amount, fee]).map(formatAmount);
      const readBack = written.reduce((sum, text) => sum + (text === '0.00' ? 0n : parseAmount(text)), 0n);
      expect(readBack).toBe(whole);
      splits += amounts.length;
    }),
    { numRuns: scaled(20_000, 200) },
  );
  expect(splits).toBeGreaterThan(scaled(1_000_000, 5_000));
});

test('the defaults are those of the design', () => {
  const shown = (mode: 'sandbox' | 'live') =>
    Object.fromEntries(
      Object.values(PAYOUT_SETTINGS).map((one) => [one.name, one.write(one.fallback(mode) as never)]),
    );
  expect(shown('sandbox')).toMatchObject({ 'payouts.daily_quota': '5000000.00', 'payouts.approvals': 1 });
  expect(shown('live')).toMatchObject({
    'payouts.approval_above': '1000.00',
    'payouts.unapproved_per_day': 'threshold',
    'payouts.batch_maximum': '10000.00',
    'payouts.daily_quota': '10000.00',
  });
  expect(shown('sandbox')['payouts.tokens']).toContain('USDC:trc20');
  expect(shown('live')['payouts.tokens']).not.toContain('USDC:trc20');
  expect(shown('live')['payouts.allow_program_owned']).toBe(false);
});
