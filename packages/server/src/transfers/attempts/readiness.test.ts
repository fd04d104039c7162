import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Precheck } from '../../chains/port/index.ts';
import { nextPaymentStep, nextRefuelStep, nextSweepStep, type PaymentNeeds } from './readiness.ts';

const READY: Precheck = {
  refused: null,
  unpayable: new Set(),
  fees: [100n],
  native: 1_000n,
  allowance: 1_000_000n,
  isDelegateMissing: false,
  movementFees: { gas: 10n, approve: 30n, deploy: 400n },
  tank: { address: '0x', native: 1_000_000n, nextSequence: 0n },
  paidByTank: null,
};
const NOTHING = { fees: 0n, unpriced: 0n, outgoing: 0n, isApproving: false, isLending: false, gas: 0n };

function payment(precheck: Partial<Precheck> = {}, others: Partial<PaymentNeeds> = {}) {
  return nextPaymentStep({
    asset: 'USDC',
    amount: 500n,
    precheck: { ...READY, ...precheck },
    underWay: NOTHING,
    tankSpending: 0n,
    topUps: 0n,
    lending: 0n,
    limits: { gasCeiling: 5_000n, allowance: 2_000n },
    ...others,
  });
}
const wait = (reason: string) => ({ do: 'wait', reason });

test('with ether and an allowance payments are sent', () => {
  expect(payment()).toEqual({ do: 'send' });
  expect(payment({ allowance: null })).toEqual({ do: 'send' });
  expect(payment({ native: 100n })).toEqual({ do: 'send' });
});

test('J6: a token that refuses everything is waited for, whatever else is missing', () => {
  expect(payment({ refused: 'token_paused', native: 0n, allowance: 0n })).toEqual(wait('token_paused'));
});

test('what other transactions of the wallet may take is not there any more', () => {
  const taking = (fees: bigint, unpriced = 0n) =>
    payment({ native: 300n }, { underWay: { ...NOTHING, fees, unpriced } });
  expect(taking(200n)).toEqual({ do: 'send' });
  expect(taking(201n)).toMatchObject({ movement: { kind: 'gas' } });
  expect(taking(0n, 2n)).toEqual({ do: 'send' });
  expect(taking(0n, 3n)).toMatchObject({ movement: { kind: 'gas' } });
  // What pays for this one without coins, another one may use up.
  const reserved = (native: bigint) =>
    payment({ native, fees: [4n], dearest: 100n }, { underWay: { ...NOTHING, unpriced: 1n } });
  expect(reserved(104n)).toEqual({ do: 'send' });
  expect(reserved(103n)).toMatchObject({ movement: { kind: 'gas' } });
  const drawing = (outgoing: bigint) => payment({ allowance: 900n }, { underWay: { ...NOTHING, outgoing } });
  expect(drawing(400n)).toEqual({ do: 'send' });
  expect(drawing(401n)).toMatchObject({ movement: { kind: 'approve' } });
});

test('what is signed gets its ether whatever its token refuses by now, and while an approval is on its way', () => {
  const few = fc.bigInt({ min: 0n, max: 500n });
  const anything = fc.record({ native: few, fees: few, unpriced: fc.bigInt({ min: 0n, max: 3n }), gas: few });
  const refusals = fc.constantFrom(null, 'token_paused' as const, 'sender_blacklisted' as const);
  fc.assert(
    fc.property(anything, refusals, fc.boolean(), few, (world, refused, isApproving, gasCeiling) => {
      const { native, fees, unpriced, gas } = world;
      const step = nextRefuelStep({
        precheck: { ...READY, native, refused },
        underWay: { ...NOTHING, fees, unpriced, gas, isApproving },
        tankSpending: 0n,
        topUps: 0n,
        lending: 0n,
        limits: { gasCeiling, allowance: 0n },
      });
      const needed = fees + 30n * unpriced;
      if (native >= needed) expect(step).toEqual({ do: 'send' });
      else if (native + gas >= needed) expect(step).toEqual(wait('wait_gas'));
      else if (needed > gasCeiling) expect(step).toEqual(wait('gas_ceiling'));
      else expect(step).toMatchObject({ do: 'move', by: 'tank', movement: { kind: 'gas' } });
    }),
  );
});

test('the tank gives what is missing and a quarter more, never above the ceiling', () => {
  const gas = (amount: bigint) => ({ do: 'move', by: 'tank', movement: { kind: 'gas', amount } });
  expect(payment({ native: 0n })).toEqual(gas(125n));
  expect(payment({ native: 60n })).toEqual(gas(50n));
  const limits = { gasCeiling: 110n, allowance: 0n };
  expect(payment({ native: 0n }, { limits })).toEqual(gas(110n));
  expect(payment({ native: 5n }, { limits })).toEqual(gas(105n));
  expect(payment({ native: 0n }, { limits: { ...limits, gasCeiling: 99n } })).toEqual(wait('gas_ceiling'));
  const underWay = { ...NOTHING, gas: 100n };
  expect(payment({ native: 0n }, { underWay })).toEqual(wait('wait_gas'));
  expect(payment({ native: 0n }, { underWay: { ...underWay, gas: 60n } })).toEqual(gas(50n));
});

test('an address that keeps what it does not use gets what is missing, and no more', () => {
  const limits = { gasCeiling: 5_000n, allowance: 2_000n, isExact: true };
  const movement = { kind: 'gas', amount: 60n };
  expect(payment({ native: 40n, allowance: null }, { limits })).toEqual({ do: 'move', by: 'tank', movement });
  expect(payment({ native: 40n, allowance: null, fees: [9_000n] }, { limits })).toEqual(wait('gas_ceiling'));
});

test('a merchant’s day of top-ups bounds what it is given, and waits where that is too little', () => {
  const units = fc.bigInt({ min: 0n, max: 400n });
  fc.assert(
    fc.property(units, units, units, fc.boolean(), (native, gasCeiling, dayLeft, isExact) => {
      const step = payment({ native }, { limits: { gasCeiling, allowance: 0n, isExact, dayLeft } });
      const missing = 100n - native;
      if (missing <= 0n) expect(step).toEqual({ do: 'send' });
      else if (missing > gasCeiling - native) expect(step).toEqual(wait('gas_ceiling'));
      else if (missing > dayLeft) expect(step).toEqual(wait('gas_day'));
      else {
        if (step.do !== 'move' || step.movement.kind !== 'gas') throw new Error('coins are missing');
        const { amount } = step.movement;
        expect(amount >= missing && amount <= dayLeft && native + amount <= gasCeiling).toBe(true);
      }
    }),
  );
});

test('above what the signer gives at once, top-ups come one after another until it is enough', () => {
  const units = fc.bigInt({ min: 1n, max: 300n });
  fc.assert(
    fc.property(units, units, (topUpMax, ceiling) => {
      const tank = { ...READY.tank, topUpMax };
      const limits = { gasCeiling: ceiling, allowance: 0n };
      let given = 0n;
      for (let rounds = 0; ; rounds++) {
        const step = payment({ native: 0n, tank }, { limits, underWay: { ...NOTHING, gas: given } });
        if (step.do === 'wait') {
          expect(step.reason).toBe(ceiling < 100n ? 'gas_ceiling' : 'wait_gas');
          break;
        }
        if (step.do !== 'move' || step.movement.kind !== 'gas') throw new Error('ether is missing');
        expect(step.movement.amount).toBeLessThanOrEqual(topUpMax);
        given += step.movement.amount;
        if (rounds > 300) throw new Error('it never ends');
      }
      expect(given).toBeLessThanOrEqual(ceiling);
      if (ceiling >= 100n) expect(given).toBeGreaterThanOrEqual(100n);
    }),
  );
  expect(payment({ native: 0n, tank: { ...READY.tank, topUpMax: 0n } })).toEqual(wait('gas_ceiling'));
});

test('nothing is ordered beyond what the signer has left of a day, for whatever is on its way already', () => {
  const units = fc.bigInt({ min: 0n, max: 400n });
  fc.assert(
    fc.property(units, units, fc.option(units, { nil: undefined }), (left, ordered, topUpMax) => {
      const limits = topUpMax === undefined ? {} : { topUpMax };
      const tank = { ...READY.tank, ...limits, topUpsLeft: left };
      let topUps = ordered;
      for (let native = 0n; ; ) {
        const step = payment({ native, tank }, { topUps });
        if (step.do === 'send') break;
        if (step.do === 'wait') {
          const isNone = topUpMax === 0n;
          expect(step.reason).toBe(isNone ? 'gas_ceiling' : 'top_ups_used');
          // No remainder is left that is worth a transaction.
          if (!isNone) expect(left - topUps).toBeLessThan(READY.movementFees.gas);
          break;
        }
        if (step.movement.kind !== 'gas') throw new Error('ether is missing');
        expect(step.movement.amount).toBeGreaterThan(0n);
        topUps += step.movement.amount;
        native += step.movement.amount;
        expect(topUps).toBeLessThanOrEqual(left);
      }
    }),
  );
  const tank = { ...READY.tank, topUpsLeft: 130n };
  expect(payment({ native: 0n, tank }, { topUps: 5n })).toMatchObject({ movement: { amount: 125n } });
  expect(payment({ native: 0n, tank }, { topUps: 6n })).toMatchObject({ movement: { amount: 124n } });
  expect(payment({ native: 0n, tank }, { topUps: 130n })).toEqual(wait('top_ups_used'));
});

test('a tank that cannot give it, with what it owes already, is waited for', () => {
  const tank = (native: bigint) => ({ ...READY.tank, native });
  expect(payment({ native: 0n, tank: tank(135n) })).toMatchObject({ do: 'move' });
  expect(payment({ native: 0n, tank: tank(134n) })).toEqual(wait('tank_low'));
  expect(payment({ native: 0n, tank: tank(200n) }, { tankSpending: 66n })).toEqual(wait('tank_low'));
});

test('an allowance is renewed to the usual amount, or to what the payment needs', () => {
  const approve = (amount: bigint, asset = 'USDC') => ({
    do: 'move',
    by: 'hot',
    movement: { kind: 'approve', asset, amount },
  });
  expect(payment({ allowance: 499n })).toEqual(approve(2_000n));
  expect(payment({ allowance: 0n }, { amount: 7_000n })).toEqual(approve(7_000n));
  expect(payment({ allowance: 499n }, { asset: 'USDT' })).toEqual(approve(0n, 'USDT'));
  expect(payment({ allowance: 0n }, { asset: 'USDT' })).toEqual(approve(2_000n, 'USDT'));
  // Ether for the approval as well, for USDT twice.
  expect(payment({ allowance: 0n, native: 129n })).toMatchObject({ movement: { kind: 'gas' } });
  expect(payment({ allowance: 0n, native: 130n })).toEqual(approve(2_000n));
  expect(payment({ allowance: 1n, native: 159n }, { asset: 'USDT' })).toMatchObject({
    movement: { kind: 'gas' },
  });
});

test('behind an approval nothing is sent, even what its own allowance would cover', () => {
  expect(payment({}, { underWay: { ...NOTHING, isApproving: true } })).toEqual(wait('wait_approval'));
});

test('sweeps want the merchant’s contract first, and a tank that can pay for all of them', () => {
  const sweep = (precheck: Partial<Precheck>, isDeploying = false, tankSpending = 0n) =>
    nextSweepStep({ precheck: { ...READY, ...precheck }, isDeploying, tankSpending });
  const tank = (native: bigint) => ({ ...READY.tank, native });
  expect(sweep({})).toEqual({ do: 'send' });
  expect(sweep({ refused: 'sender_blacklisted' })).toEqual(wait('sender_blacklisted'));
  expect(sweep({ isDelegateMissing: true })).toMatchObject({ by: 'tank', movement: { kind: 'deploy' } });
  expect(sweep({ isDelegateMissing: true }, true)).toEqual(wait('wait_deploy'));
  expect(sweep({ isDelegateMissing: true, tank: tank(399n) })).toEqual(wait('tank_low'));
  expect(sweep({ fees: [60n, 60n], tank: tank(120n) })).toEqual({ do: 'send' });
  expect(sweep({ fees: [60n, 60n], tank: tank(120n) }, false, 1n)).toEqual(wait('tank_low'));
  const paidByTank = { fee: 60n, opening: 0n, newRecipients: new Set<string>() };
  expect(sweep({ paidByTank, fees: [60n, 60n], tank: tank(120n) }, false, 1n)).toEqual(wait('wait_tank'));
  expect(sweep({ paidByTank, fees: [60n, 60n], tank: tank(119n) })).toEqual(wait('tank_low'));
});
