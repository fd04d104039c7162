import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Precheck } from '../../chains/port/index.ts';
import {
  isLoanInUse,
  keysToSettle,
  LENT_SECONDS,
  type LendingNeeds,
  lendStep,
  takeBackStep,
} from './lending.ts';
import { nextPaymentStep } from './readiness.ts';

type Lending = NonNullable<Precheck['lending']>;
const LENDING: Lending = {
  to: 'deposit:7',
  staked: 5_000n,
  coins: 40n,
  available: 9_000n,
  lent: 0n,
  fee: 35n,
};
const LENT = {
  do: 'move',
  by: 'tank',
  movement: { kind: 'lend', staked: LENDING.staked, to: LENDING.to },
} as const;
const NEEDED = 840n;
const wait = (reason: string) => ({ do: 'wait', reason });

interface Changes {
  lending?: Partial<Lending>;
  native?: bigint;
  tank?: Partial<Precheck['tank']>;
}

function needsOf({ lending = {}, native = 40n, tank = {} }: Changes = {}): LendingNeeds {
  return {
    precheck: {
      fees: [NEEDED],
      native,
      tank: { address: 'tank', native: 10_000n, nextSequence: null, ...tank },
      lending: { ...LENDING, ...lending },
    },
    tankSpending: 0n,
    lending: 0n,
    limits: {},
  };
}
const step = (changes: Changes = {}, others: Partial<LendingNeeds> = {}) =>
  lendStep({ ...needsOf(changes), ...others }, NEEDED);
const coins = (needed: bigint) => ({ do: 'coins', needed });

test('an address gets the coins that stake does not replace, and then the loan', () => {
  expect(step({ native: 0n })).toEqual(coins(40n));
  expect(step({ native: 39n })).toEqual(coins(40n));
  expect(step()).toEqual(LENT);
});

test('coins pay where they are cheaper, and where the tank cannot lend or pay for it', () => {
  // 800 are burnt, or two transactions are paid for.
  expect(step({ lending: { fee: 399n } })).toEqual(LENT);
  expect(step({ lending: { fee: 400n } })).toEqual(coins(NEEDED));
  expect(step({ lending: { available: 5_000n } })).toEqual(LENT);
  expect(step({ lending: { available: 4_999n } })).toEqual(coins(NEEDED));
  expect(step({}, { lending: 4_000n })).toEqual(LENT);
  expect(step({}, { lending: 4_001n })).toEqual(coins(NEEDED));
  expect(step({ tank: { native: 69n } })).toEqual(coins(NEEDED));
  expect(step({}, { tankSpending: 9_931n })).toEqual(coins(NEEDED));
  expect(step({}, { limits: { isLate: true } })).toEqual(coins(NEEDED));
  // Others have 300, and as much is promised.
  const ceiling = (lentMost: bigint) =>
    step({ tank: { lent: 300n } }, { lending: 300n, limits: { lentMost } });
  expect(ceiling(5_600n)).toEqual(LENT);
  expect(ceiling(5_599n)).toEqual(coins(NEEDED));
  expect(ceiling(0n)).toEqual(coins(NEEDED));
  const { lending: _, ...without } = needsOf().precheck;
  expect(step({}, { precheck: without })).toEqual(coins(NEEDED));
});

test('an address has one loan: while another of its sweeps may use it this one waits, and what it was too little for is paid with coins', () => {
  expect(step({ lending: { lent: 1n } })).toEqual(coins(NEEDED));
  const used = (fees: bigint, unpriced: bigint, lent = 1n, isLate = false) =>
    isLoanInUse({
      precheck: { lending: { ...LENDING, lent } },
      underWay: { fees, unpriced },
      limits: { isLate },
    });
  // Reserved, it has no price yet.
  expect([used(1n, 0n), used(0n, 1n)]).toEqual([true, true]);
  expect([used(0n, 0n), used(1n, 1n, 0n), used(1n, 1n, 1n, true)]).toEqual([false, false, false]);
});

const amount = fc.bigInt({ min: 0n, max: 2_000n });

test('whatever the prices: what is spent is the less of the two, no more is lent than there is, and afterwards the sweep goes', () => {
  const world = fc.record({
    fees: fc.array(fc.record({ coins: amount, burnt: amount }), { minLength: 1, maxLength: 3 }),
    native: amount,
    fee: amount,
    staked: amount,
    available: amount,
    promised: amount,
    tank: fc.bigInt({ min: 0n, max: 20_000n }),
  });
  fc.assert(
    fc.property(world, ({ fees, native, fee, staked, available, promised, tank }) => {
      const sum = (list: bigint[]) => list.reduce((total, one) => total + one, 0n);
      const coinsOnly = sum(fees.map((one) => one.coins));
      const burnt = sum(fees.map((one) => one.burnt));
      const total = coinsOnly + burnt;
      const precheck: Precheck = {
        refused: null,
        unpayable: new Set(),
        fees: fees.map((one) => one.coins + one.burnt),
        native,
        allowance: null,
        isDelegateMissing: false,
        movementFees: { gas: 0n, approve: 0n, deploy: 0n },
        tank: { address: 'tank', native: tank, nextSequence: null },
        lending: { ...LENDING, coins: coinsOnly, staked, available, fee },
        paidByTank: null,
      };
      const underWay = {
        fees: 0n,
        unpriced: 0n,
        outgoing: 0n,
        isApproving: false,
        isLending: false,
        gas: 0n,
      };
      const limits = { gasCeiling: 100_000n, allowance: 0n, isExact: true };
      const asked = { asset: 'USDT', amount: 1n, tankSpending: 0n, topUps: 0n, limits } as const;
      const next = (now: Precheck) =>
        nextPaymentStep({ ...asked, precheck: now, underWay, lending: promised });
      const isLent = native < total && 2n * fee < burnt && staked + promised <= available && 2n * fee <= tank;
      const found = next(precheck);
      if (native >= total) expect(found).toEqual({ do: 'send' });
      else if (isLent && native >= coinsOnly)
        expect(found).toMatchObject({ movement: { kind: 'lend', staked } });
      else {
        const missing = (isLent ? coinsOnly : total) - native;
        if (tank < missing) expect(found).toEqual(wait('tank_low'));
        else expect(found).toMatchObject({ movement: { kind: 'gas', amount: missing } });
      }
      if (found.do !== 'move' || found.movement.kind !== 'lend') return;
      // Stake pays what is burnt otherwise.
      const paid = { ...precheck, fees: fees.map((one) => one.coins) };
      expect(next(paid)).toEqual({ do: 'send' });
      expect(
        nextPaymentStep({
          ...asked,
          precheck: paid,
          underWay: { ...underWay, isLending: true },
          lending: 0n,
        }),
      ).toEqual(wait('wait_lent'));
    }),
  );
});

test('what an address has of the tank is taken back once nothing uses it, all of it, and once', () => {
  const { precheck } = needsOf({ lending: { lent: 700n }, tank: { lent: 900n } });
  const idle = { precheck, underWay: { isLending: false }, isUsed: false, tankSpending: 0n, isLate: false };
  const movement = { kind: 'unlend', staked: 700n, to: LENDING.to };
  expect(takeBackStep(idle)).toEqual({ do: 'move', by: 'tank', movement });
  expect(takeBackStep({ ...idle, isUsed: true })).toEqual({ do: 'done' });
  expect(takeBackStep({ ...idle, underWay: { isLending: true } })).toEqual(wait('wait_lent'));
  expect(takeBackStep({ ...idle, tankSpending: 9_966n })).toEqual(wait('tank_low'));
  // Of what cannot be read nobody says that it is back.
  const { lending: _, ...unread } = precheck;
  expect(takeBackStep({ ...idle, precheck: unread })).toEqual(wait('wait_lent'));
  // Not for ever: what is decided already, and what is on its way, is not given up.
  const late = { ...idle, isLate: true };
  expect(takeBackStep({ ...late, precheck: unread })).toEqual({ do: 'give_up' });
  expect(takeBackStep({ ...late, precheck: unread, underWay: { isLending: true } })).toEqual(
    wait('wait_lent'),
  );
  expect(takeBackStep(late)).toEqual({ do: 'move', by: 'tank', movement });
  const ofOthers = needsOf({ tank: { lent: 900n } }).precheck;
  expect(takeBackStep({ ...idle, precheck: ofOthers })).toEqual({ do: 'done' });
  const { lending: __, ...nothing } = needsOf().precheck;
  expect(takeBackStep({ ...idle, precheck: nothing })).toEqual({ do: 'done' });
});

test('an address is looked after once its transfers are over or late: for a while, and at the end of its group', () => {
  const NOW = 2_000_000;
  const of = (keyRef: 'hot' | `deposit:${number}`, completed: number | null, created = NOW - 3_000) => ({
    key_ref: keyRef,
    created_at: created,
    completed_at: completed,
  });
  const settled = (...transfers: ReturnType<typeof of>[]) =>
    keysToSettle(transfers, NOW).map(({ keyRef }) => keyRef);
  const [open, old] = [of('deposit:1', null), of('deposit:2', NOW - 601)];
  expect(settled(open)).toEqual([]);
  expect(settled(open, of('deposit:2', NOW - 599))).toEqual(['deposit:2']);
  expect(settled(open, of('deposit:1', NOW))).toEqual([]);
  expect(settled(open, old)).toEqual([]);
  expect(settled(of('deposit:1', NOW), old, of('hot', NOW))).toEqual(['deposit:1', 'deposit:2']);
  expect(settled(of('deposit:1', null, NOW - LENT_SECONDS), old)).toEqual([]);
  expect(settled(of('deposit:1', null, NOW - LENT_SECONDS - 1), old)).toEqual(['deposit:1', 'deposit:2']);
});
