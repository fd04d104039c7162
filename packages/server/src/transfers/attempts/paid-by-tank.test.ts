import fc from 'fast-check';
import { expect, test } from 'vitest';
import { selectPaidByTank, type TankBudget, type TankCost, tankCostOf, tankWait } from './paid-by-tank.ts';

const amount = fc.bigInt({ min: 0n, max: 50n });
const cost = fc
  .record({ fee: amount, openings: amount })
  .map(({ fee, openings }): TankCost => ({ cost: fee + openings, openings }));
const budget = fc.record<TankBudget>({
  native: fc.bigInt({ min: 0n, max: 500n }),
  spending: fc.bigInt({ min: 0n, max: 300n }),
  // A ceiling that was lowered is below what was spent.
  openings: fc.bigInt({ min: -100n, max: 200n }),
});
const sum = (list: readonly bigint[]) => list.reduce((total, one) => total + one, 0n);

test('what is taken the tank can pay, on top of all that is on its way, and within the ceiling', () => {
  fc.assert(
    fc.property(fc.array(cost), budget, (planned, has) => {
      const { taken, waitsFor, left } = selectPaidByTank(planned, has);
      const spent = sum(taken.map((one) => one.cost));
      const opened = sum(taken.map((one) => one.openings));
      if (spent > 0n) expect(has.spending + spent).toBeLessThanOrEqual(has.native);
      if (opened > 0n) expect(opened).toBeLessThanOrEqual(has.openings);
      expect(left).toEqual({
        native: has.native,
        spending: has.spending + spent,
        openings: has.openings - opened,
      });
      // Something waits, and says why, exactly where something is left.
      expect(waitsFor !== undefined).toBe(taken.length < planned.length);
      // Each that waits would have been too much at the end as well.
      const others = planned.filter((one) => !taken.includes(one));
      for (const one of others) expect(selectPaidByTank([one], left).taken).toEqual([]);
      if (waitsFor === 'tank_low') expect(others.some((one) => one.cost > has.native)).toBe(true);
    }),
  );
});

test('two runs that share a tank take no more than one that has all of it', () => {
  fc.assert(
    fc.property(fc.array(cost), fc.array(cost), budget, (first, second, has) => {
      const once = selectPaidByTank(first, has);
      const twice = selectPaidByTank(second, once.left);
      expect(twice.left).toEqual(selectPaidByTank([...first, ...second], has).left);
    }),
  );
});

test('a tank that holds enough, and has it on its way, is not called low', () => {
  expect(tankWait(10n, { native: 10n, spending: 0n })).toBeUndefined();
  expect(tankWait(10n, { native: 10n, spending: 1n })).toBe('wait_tank');
  expect(tankWait(10n, { native: 9n, spending: 0n })).toBe('tank_low');
});

test('each recipient costs an account once, and those who have none count for the ceiling', () => {
  const paidByTank = { fee: 5n, opening: 100n, newRecipients: new Set(['a', 'z']) };
  expect(tankCostOf(paidByTank, ['a', 'b', 'a'])).toEqual({ cost: 205n, openings: 100n });
  expect(tankCostOf(paidByTank, ['b'])).toEqual({ cost: 105n, openings: 0n });
});
