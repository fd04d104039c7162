import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHARGE_FAULTS, type ChargeFault } from '../../chains/port/index.ts';
import {
  type ActivationNeeds,
  APPROVAL_WITHIN_SECONDS,
  type ChargeNeeds,
  GIVEN_UP_AFTER_SECONDS,
  isUnapproved,
  judgeCharge,
  nextActivationStep,
  nextChargeStep,
  PASSING_WITHIN_SECONDS,
} from './charge-readiness.ts';

const READY: ChargeNeeds = {
  precheck: {
    refused: null,
    native: 1_000n,
    fee: 100n,
    dearest: 120n,
    movementFees: { gas: 10n, account: 60n, activate: 120n },
    tank: { address: '0x', native: 1_000_000n, nextSequence: 0n },
    isAccountMissing: false,
    isOtherOperator: false,
  },
  underWay: { fees: 0n, unpriced: 0n, gas: 0n, isOpening: false },
  tankSpending: 0n,
  topUps: 0n,
  limits: { gasCeiling: 500n },
};
const needing = (
  precheck: Partial<ChargeNeeds['precheck']> = {},
  underWay: Partial<ChargeNeeds['underWay']> = {},
): ChargeNeeds => ({
  ...READY,
  precheck: { ...READY.precheck, ...precheck },
  underWay: { ...READY.underWay, ...underWay },
});
const wait = (reason: string) => ({ do: 'wait', reason });

const wei = fc.bigInt({ min: 0n, max: 2_000n });
const anyNeeds = fc
  .record({
    native: wei,
    fee: fc.bigInt({ min: 1n, max: 400n }),
    more: fc.bigInt({ min: 0n, max: 200n }),
    tank: wei,
    fees: wei,
    unpriced: fc.bigInt({ min: 0n, max: 5n }),
    gas: wei,
    isOpening: fc.boolean(),
    isAccountMissing: fc.boolean(),
    gasCeiling: wei,
    tankSpending: wei,
    topUps: wei,
  })
  .map(
    ({
      native,
      fee,
      more,
      tank,
      isAccountMissing,
      gasCeiling,
      tankSpending,
      topUps,
      ...underWay
    }): ChargeNeeds => ({
      precheck: {
        ...READY.precheck,
        native,
        fee,
        dearest: fee + more,
        isAccountMissing,
        tank: { ...READY.precheck.tank, native: tank },
      },
      underWay,
      tankSpending,
      topUps,
      limits: { gasCeiling },
    }),
  );

test('what is sent, with what is on its way, costs at most what the wallet holds', () => {
  fc.assert(
    fc.property(anyNeeds, fc.integer({ min: 1, max: 50 }), (needs, count) => {
      const step = nextChargeStep(needs, count);
      const { native, fee, dearest, isAccountMissing } = needs.precheck;
      const taken = needs.underWay.fees + needs.underWay.unpriced * dearest;
      const fits = native >= taken + fee;
      expect(step.do === 'send').toBe(!isAccountMissing && fits);
      if (step.do !== 'send') return;
      expect(step.count).toBeGreaterThan(0);
      expect(step.count).toBeLessThanOrEqual(count);
      expect(taken + BigInt(step.count) * fee).toBeLessThanOrEqual(native);
      // As many as there is ether for.
      if (step.count < count) expect(taken + BigInt(step.count + 1) * fee).toBeGreaterThan(native);
    }),
  );
});

test('no more is given than is left of a day; what is left for one charge is enough to go on', () => {
  fc.assert(
    fc.property(anyNeeds, wei, fc.integer({ min: 1, max: 50 }), (any, dayLeft, count) => {
      const needs = { ...any, limits: { ...any.limits, dayLeft } };
      const step = nextChargeStep(needs, count);
      if (step.do === 'move' && step.movement.kind === 'gas')
        expect(step.movement.amount).toBeLessThanOrEqual(dayLeft);
      if (step.do !== 'wait' || step.reason !== 'gas_day') return;
      const { native, fee, dearest } = needs.precheck;
      const { fees, unpriced, gas } = needs.underWay;
      expect(native + gas + dayLeft).toBeLessThan(fees + unpriced * dearest + fee);
    }),
  );
});

test('a top-up fills no wallet above its ceiling, and the tank has what it gives', () => {
  fc.assert(
    fc.property(anyNeeds, fc.integer({ min: 1, max: 50 }), (needs, count) => {
      const step = nextChargeStep(needs, count);
      if (step.do !== 'move') return;
      const { native, tank, movementFees } = needs.precheck;
      const left = tank.native - needs.tankSpending;
      if (step.movement.kind === 'account') {
        expect(needs.underWay.isOpening).toBe(false);
        expect(left).toBeGreaterThanOrEqual(movementFees.account);
        return;
      }
      const { amount } = step.movement;
      expect(amount).toBeGreaterThan(0n);
      expect(native + needs.underWay.gas + amount).toBeLessThanOrEqual(needs.limits.gasCeiling);
      expect(left).toBeGreaterThanOrEqual(amount + movementFees.gas);
    }),
  );
});

/** A chain on which each movement is in the next block. */
function run(start: ChargeNeeds, count: number) {
  let needs = start;
  const moved: string[] = [];
  let left = count;
  for (let round = 0; left > 0; round++) {
    if (round > 1_000) throw new Error('it never ends');
    const step = nextChargeStep(needs, left);
    const { precheck } = needs;
    if (step.do === 'wait') throw new Error(`it waits for ${step.reason}`);
    if (step.do === 'send') {
      left -= step.count;
      needs = needing({ ...precheck, native: precheck.native - BigInt(step.count) * precheck.fee });
    } else if (step.movement.kind === 'account') needs = needing({ ...precheck, isAccountMissing: false });
    else needs = needing({ ...precheck, native: precheck.native + step.movement.amount });
    moved.push(step.do === 'send' ? `${step.count}` : step.movement.kind);
  }
  return moved;
}

test('however many charges are due, all of them go, in turns of what the wallet may hold', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.bigInt({ min: 0n, max: 500n }), (count, native) => {
      const moved = run(needing({ native, isAccountMissing: true }), count);
      expect(moved.filter((one) => one === 'account')).toHaveLength(1);
      expect(moved[0]).toBe('account');
      expect(moved.reduce((sum, one) => sum + (Number(one) || 0), 0)).toBe(count);
    }),
  );
  expect(run(needing({ native: 0n }), 7)).toEqual(['gas', '5', 'gas', '2']);
});

test('what stands in the way of all charges is waited for', () => {
  expect(nextChargeStep(needing({ refused: 'token_paused', isAccountMissing: true }), 1)).toEqual(
    wait('token_paused'),
  );
  expect(nextChargeStep(needing({ isAccountMissing: true }, { isOpening: true }), 1)).toEqual(
    wait('wait_account'),
  );
  const poor = { ...READY.precheck.tank, native: 59n };
  expect(nextChargeStep(needing({ isAccountMissing: true, tank: poor }), 1)).toEqual(wait('tank_low'));
  expect(nextChargeStep(needing({ native: 0n }, { gas: 500n }), 1)).toEqual(wait('wait_gas'));
  expect(nextChargeStep({ ...needing({ native: 0n }), limits: { gasCeiling: 99n } }, 1)).toEqual(
    wait('gas_ceiling'),
  );
});

test('a charge goes only where the collector would take it and its mandate is there', () => {
  const charge = { chargeId: 'c', mandateId: 'm' };
  const nothing = { missing: new Set<string>(), faults: new Map(), unclear: new Set<string>() };
  const awaited = { hasPermit: false };
  expect(judgeCharge(nothing, charge, undefined)).toBe('ready');
  expect(judgeCharge({ ...nothing, missing: new Set(['m']) }, charge, awaited)).toBe('waits');
  expect(judgeCharge({ ...nothing, missing: new Set(['m']) }, charge, undefined)).toBe(
    'insufficient_allowance',
  );
  const faults = new Map([['c', 'cap_exceeded'] as const]);
  expect(judgeCharge({ ...nothing, faults }, charge, awaited)).toBe('cap_exceeded');
  expect(judgeCharge({ ...nothing, unclear: new Set(['c']) }, charge, undefined)).toBe('waits');
});

test('a charge fails for its allowance only where no signed approval is on its way', () => {
  const charge = { chargeId: 'c', mandateId: 'm' };
  const judgeAttempt = (fault: ChargeFault, awaited: { hasPermit: boolean } | undefined) =>
    judgeCharge({ missing: new Set(), faults: new Map([['c', fault]]), unclear: new Set() }, charge, awaited);
  for (const fault of CHARGE_FAULTS) {
    const isAllowance = fault === 'insufficient_allowance';
    expect(judgeAttempt(fault, { hasPermit: true })).toBe(isAllowance ? 'waits' : fault);
    expect(judgeAttempt(fault, { hasPermit: false })).toBe(fault);
    expect(judgeAttempt(fault, undefined)).toBe(fault);
  }
});

test('no charge goes while somebody else is the operator of the account', () => {
  expect(nextChargeStep(needing({ isOtherOperator: true }), 1)).toEqual(wait('other_operator'));
});

const NEW: ActivationNeeds = {
  ...READY,
  final: 'missing',
  isMissing: true,
  activation: {
    allowance: 1n,
    isSignatureRefused: false,
    isTaken: true,
    permit: null,
    permitted: 0n,
    needed: 1n,
  },
  simulationSucceeded: false,
  isActivating: false,
  failures: 0,
  unbuilt: 0,
  unapprovedSeconds: 0,
  ageSeconds: 0,
};

test('a mandate is activated once, after its account is open and its wallet has approved', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 400n }), fc.boolean(), (native, isAccountMissing) => {
      let needs: ActivationNeeds = { ...NEW, ...needing({ native, isAccountMissing }) };
      const moved: string[] = [];
      for (let round = 0; needs.isMissing; round++) {
        if (round > 10) throw new Error('it never ends');
        const step = nextActivationStep(needs);
        if (step.do !== 'move') throw new Error(`it ${step.do}s`);
        const { movement } = step;
        moved.push(movement.kind);
        const { precheck } = needs;
        if (movement.kind === 'account')
          needs = { ...needs, precheck: { ...precheck, isAccountMissing: false } };
        else if (movement.kind === 'gas')
          needs = { ...needs, precheck: { ...precheck, native: precheck.native + movement.amount } };
        else needs = { ...needs, isMissing: false };
      }
      const gas = native < 120n ? ['gas'] : [];
      expect(moved).toEqual([...(isAccountMissing ? ['account'] : []), ...gas, 'activate']);
      expect(nextActivationStep(needs)).toEqual(wait('wait_final'));
      expect(nextActivationStep({ ...needs, final: 'active' })).toEqual({ do: 'end', as: 'active' });
    }),
  );
});

test('nothing is paid for a signature that is refused, or a wallet that approved nothing', () => {
  const of = (change: Partial<ActivationNeeds>) => nextActivationStep({ ...NEW, ...change });
  const unsigned = { permit: null, permitted: 0n, needed: 1n };
  const refused = { allowance: 5n, isSignatureRefused: true, isTaken: false, ...unsigned };
  expect(of({ activation: refused })).toEqual({ do: 'end', as: 'signature_refused' });
  const poor = { allowance: 0n, isSignatureRefused: false, isTaken: true, ...unsigned };
  expect(of({ activation: poor })).toEqual(wait('wait_allowance'));
  // A second subscription of the wallet sets the approval to 0 for a moment, hours after the first was ordered.
  expect(of({ activation: poor, ageSeconds: 10 * APPROVAL_WITHIN_SECONDS })).toEqual(wait('wait_allowance'));
  expect(of({ activation: poor, unapprovedSeconds: APPROVAL_WITHIN_SECONDS })).toEqual({
    do: 'end',
    as: 'no_allowance',
  });
  const dear = { allowance: 5n, isSignatureRefused: false, isTaken: false, ...unsigned };
  expect(of({ activation: dear })).toEqual(wait('wait_activate'));
  expect(of({ activation: dear, ageSeconds: PASSING_WITHIN_SECONDS })).toEqual({
    do: 'end',
    as: 'signature_refused',
  });
  expect(of({ failures: 1 })).toMatchObject({ do: 'move' });
  expect(of({ failures: 2 })).toEqual({ do: 'end', as: 'signature_refused' });
  expect(of({ isActivating: true })).toEqual(wait('wait_activate'));
  expect(of({ final: 'revoked', isActivating: true })).toEqual({ do: 'end', as: 'revoked' });
});

const anyPermit = fc.record({
  allowance: fc.bigInt({ min: 0n, max: 10n }),
  permitted: fc.bigInt({ min: 1n, max: 10n }),
  needed: fc.bigInt({ min: 1n, max: 10n }),
  permit: fc.constantFrom('open' as const, 'spent' as const, 'expired' as const, 'refused' as const),
});
const anySeconds = fc.constantFrom(0, GIVEN_UP_AFTER_SECONDS, APPROVAL_WITHIN_SECONDS, 86_400);
const PERMIT_EXPIRED = { do: 'end', as: 'permit_expired' };

test('a signed approval is brought where it allows more than there is; one that came to nothing is asked for anew', () => {
  fc.assert(
    fc.property(anyPermit, anySeconds, (permit, unapprovedSeconds) => {
      const activation = { ...NEW.activation, ...permit };
      const step = nextActivationStep({ ...NEW, activation, unapprovedSeconds });
      const { allowance, permitted, needed, permit: state } = permit;
      const hasPermit = state === 'open' && permitted > allowance;
      const isUp = unapprovedSeconds >= GIVEN_UP_AFTER_SECONDS;
      if (hasPermit || allowance >= needed)
        expect(step).toEqual({ do: 'move', by: 'hot', movement: { kind: 'activate', hasPermit } });
      else if (state === 'spent' || state === 'expired')
        expect(step).toEqual(isUp ? PERMIT_EXPIRED : wait('wait_allowance'));
      // What a token refuses, it may take later, until the permit's own end.
      else expect(step).toEqual(wait('wait_allowance'));
    }),
  );
});

test('a mandate that is there without its signed approval is asked for anew, and never called active', () => {
  fc.assert(
    fc.property(anyPermit, anySeconds, fc.boolean(), (permit, unapprovedSeconds, simulationSucceeded) => {
      const activation = { ...NEW.activation, ...permit };
      const seen = { ...NEW, isMissing: false, activation, unapprovedSeconds, simulationSucceeded };
      expect(nextActivationStep(seen)).toEqual(wait('wait_final'));
      const step = nextActivationStep({ ...seen, final: 'active' });
      // Whoever was charged has allowed enough, however little is left.
      if (simulationSucceeded || permit.allowance >= permit.needed)
        expect(step).toEqual({ do: 'end', as: 'active' });
      else if (unapprovedSeconds < GIVEN_UP_AFTER_SECONDS) expect(step).toEqual(wait('wait_allowance'));
      else expect(step).toEqual(PERMIT_EXPIRED);
    }),
  );
  // An approval that is a transaction of the payer has the amount that the payer wanted.
  expect(nextActivationStep({ ...NEW, final: 'active', isMissing: false })).toEqual({
    do: 'end',
    as: 'active',
  });
});

test('while a token takes nothing, no signed approval is given up', () => {
  fc.assert(
    fc.property(anyPermit, anySeconds, (permit, unapprovedSeconds) => {
      const activation = { ...NEW.activation, ...permit };
      const needs = { ...NEW, ...needing({ refused: 'token_paused' }), activation, unapprovedSeconds };
      expect(nextActivationStep(needs)).toEqual(wait('token_paused'));
    }),
  );
});

test('the time without an approval counts while nothing of ours brings one', () => {
  fc.assert(
    fc.property(anyPermit, fc.boolean(), (permit, isMissing) => {
      const activation = { ...NEW.activation, ...permit };
      const { allowance, permitted, needed, permit: state } = permit;
      const isBrought = isMissing && state === 'open' && allowance < permitted;
      expect(isUnapproved({ isMissing, activation })).toBe(allowance < needed && !isBrought);
      const unsigned = { ...activation, permit: null, permitted: 0n };
      expect(isUnapproved({ isMissing, activation: unsigned })).toBe(allowance < needed);
    }),
  );
});

test('an activation that nodes let pass and then refuse is tried six times within an hour or so, and ends', () => {
  let tries = 0;
  let ageSeconds = 0;
  for (; ageSeconds < PASSING_WITHIN_SECONDS; ageSeconds += 10) {
    const step = nextActivationStep({ ...NEW, unbuilt: tries, ageSeconds });
    if (step.do === 'end') break;
    if (step.do === 'move') tries += 1;
    else expect(step).toEqual(wait('wait_activate'));
  }
  expect(tries).toBe(6);
  expect(ageSeconds).toBeLessThan(3_600);
});

test('an activation whose permit another merchant has handed in meanwhile goes without it at once, and waits like others then', () => {
  const activation = { ...NEW.activation, permit: 'spent', permitted: 500n, allowance: 500n } as const;
  const needs = { ...NEW, activation, unbuilt: 1, ageSeconds: 1 };
  const without = { do: 'move', by: 'hot', movement: { kind: 'activate', hasPermit: false } };
  expect(nextActivationStep(needs)).toEqual(without);
  expect(nextActivationStep({ ...needs, unbuilt: 2 })).toEqual(wait('wait_activate'));
  expect(nextActivationStep({ ...needs, activation: { ...activation, permit: 'open' } })).toEqual(
    wait('wait_activate'),
  );
});
