import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyRef } from '../../chains/port/index.ts';
import { coverMoves, restSeconds } from './decide.ts';

const FEES = { plain: 30n };
const CEILING = 100_000n;
const amount = (most: bigint) => fc.bigInt({ min: 0n, max: most });

test('what was signed is covered within the ceiling whatever it costs by now, or given up where ether was taken', () => {
  const signed = fc.record({
    native: amount(5_000n),
    fees: amount(50_000n),
    moved: fc.oneof(fc.constant(0n), amount(5_000n)),
  });
  const tanks = fc.record({
    native: amount(200_000n),
    topUpMax: fc.option(fc.bigInt({ min: 500n, max: 5_000n }), { nil: undefined }),
  });
  fc.assert(
    fc.property(
      signed,
      tanks,
      fc.record({ tankSpending: amount(CEILING), before: amount(30_000n), isHeld: fc.boolean() }),
      (wallet, held, { tankSpending, before, isHeld }) => {
        const { topUpMax } = held;
        const tank = { address: 'tank', nextSequence: 0n, native: held.native };
        const facts = { tank: topUpMax === undefined ? tank : { ...tank, topUpMax }, fees: FEES };
        let { native } = wallet;
        let given = before;
        for (;;) {
          const now = {
            gasCeiling: CEILING,
            given: new Map([['hot:0' as const, given]]),
            tankSpending,
            topUps: 0n,
            held: new Set(isHeld ? ['tank' as const] : []),
          };
          const step = coverMoves(facts, now, { ...wallet, keyRef: 'hot:0', native });
          const missing = wallet.fees + wallet.moved - native;
          expect(step === undefined).toBe(missing <= 0n);
          if (step === undefined) break;
          if (step.do === 'fill') {
            expect(step.isTaken).toBe(native < wallet.moved);
            // Without a part of what is moved, or with enough for the empty payment.
            expect(native < wallet.moved || native >= wallet.fees).toBe(true);
            expect(wallet.moved).toBeGreaterThan(0n);
            break;
          }
          // No ether of the tank goes where ether was taken from a move.
          expect(native).toBeGreaterThanOrEqual(wallet.moved);
          if (step.do === 'wait') {
            const isCeiling = given + missing > CEILING || wallet.fees > CEILING;
            expect(step.reason).toBe(isCeiling ? 'gas_ceiling' : isHeld ? 'held' : 'tank_low');
            const most = (missing * 5n) / 4n + FEES.plain;
            if (step.reason === 'tank_low')
              expect(held.native - tankSpending).toBeLessThan(most + FEES.plain);
            break;
          }
          expect(step).toMatchObject({ do: 'move', by: 'tank', movement: { kind: 'gas', to: 'hot:0' } });
          expect(isHeld).toBe(false);
          const brought = step.do === 'move' && step.movement.kind === 'gas' ? step.movement.amount : 0n;
          expect(brought).toBeGreaterThan(0n);
          const most = (missing * 5n) / 4n;
          const bounds = [most, FEES.plain, given / 4n].toSorted((a, b) => (a < b ? 1 : -1));
          expect(brought).toBeLessThanOrEqual(topUpMax ?? bounds[0] ?? 0n);
          // Not wei by wei: each top-up has a fee.
          if (given + FEES.plain <= CEILING) expect(brought).toBeGreaterThanOrEqual(FEES.plain);
          native += brought;
          given += brought;
          expect(given).toBeLessThanOrEqual(CEILING);
        }
      },
    ),
  );
});

test('a move of ether always ends: it is paid, or given up with the fee of an empty payment alone', () => {
  const facts = { tank: { address: 'tank', nextSequence: 0n, native: 10n ** 9n }, fees: FEES };
  const of = (given: bigint) => new Map([['hot:0' as const, given]]);
  const limits = {
    gasCeiling: CEILING,
    given: of(0n),
    tankSpending: 0n,
    topUps: 0n,
    held: new Set<KeyRef>(),
  };
  const signed = { keyRef: 'hot:0', fees: 100n, moved: 50_000n } as const;
  const step = (native: bigint, given = 0n) =>
    coverMoves(facts, { ...limits, given: of(given) }, { ...signed, native });
  expect(step(50_100n)).toBeUndefined();
  expect(step(50_099n)).toEqual({ do: 'fill', isTaken: false });
  expect(step(0n)).toEqual({ do: 'fill', isTaken: true });
  expect(step(0n, CEILING)).toEqual({ do: 'fill', isTaken: true });
  // What the empty payment costs is all that is asked for then.
  const filled = { keyRef: 'hot:0', fees: 113n, moved: 0n, native: 0n } as const;
  expect(coverMoves(facts, limits, filled)).toMatchObject({ movement: { kind: 'gas', amount: 141n } });
  expect(coverMoves(facts, { ...limits, given: of(CEILING) }, filled)).toEqual({
    do: 'wait',
    reason: 'gas_ceiling',
  });
});

test('each move that reverts doubles the time until the next one, up to a day', () => {
  expect([1, 2, 3, 8, 9, 1_000].map(restSeconds)).toEqual([600, 1_200, 2_400, 76_800, 86_400, 86_400]);
});
