import type { Asset } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amount,
  CEILING,
  FEES,
  factsOf,
  HOT,
  happen,
  held,
  limitsOf,
  OLD,
  type World,
  worlds,
} from '../../../../../test/transfers/rotation-world.ts';
import {
  nextRotationStep,
  type RotationLimits,
  type RotationStep,
  reasonToSetAside,
  tokenIn,
} from './decide.ts';

// What wallets keep while everything else goes on.

const KEEPING = {
  taken: { setAside: new Map([[OLD[0], 'taken']]) },
  stuck: { setAside: new Map([[OLD[0], 'stuck']]) },
  /** As where fees are above the ceiling: nobody took anything. */
  never_given: { gasCeiling: 0n },
  gas_ceiling: { given: new Map([['hot:0' as const, CEILING]]) },
  held: { held: new Set(['hot:0' as const]) },
  refused: { resting: new Set([tokenIn(OLD[0], 'USDT')]) },
  tank_low: { tankSpending: 10n ** 9n },
  top_ups_used: { topUps: 10n ** 9n },
} satisfies Partial<Record<string, Partial<RotationLimits>>>;

test('one wallet that keeps its coins holds up no other, and the next rotation waits only for what may pass', () => {
  const cases = fc.constantFrom(
    'taken',
    'stuck',
    'never_given',
    'gas_ceiling',
    'held',
    'refused',
    'tank_low',
    'top_ups_used',
  );
  fc.assert(
    fc.property(worlds, held, cases, fc.boolean(), (some, other, which, isHomeLeft) => {
      const world: World = {
        ...some,
        account: 'open',
        operator: HOT,
        home: isHomeLeft ? OLD[0] : HOT,
        nextHome: HOT,
        finalTime: 1,
        cost: 0n,
        native: [0n, 10n * FEES.move],
        tokens: [new Map([['USDT', 1n]]), new Map(Object.entries(other) as [Asset, bigint][])],
      };
      let step: RotationStep;
      for (let turns = 0; ; turns++) {
        expect(turns).toBeLessThan(100);
        const facts = factsOf(world);
        const tank = { ...facts.tank, topUpsLeft: 10n ** 6n };
        step = nextRotationStep({ ...facts, tank }, { ...limitsOf(world), ...KEEPING[which] }, false);
        if (step.do !== 'move') break;
        expect(step.by).toBe('hot:1');
        happen(world, step);
      }
      // Charges may come while home has not moved, and what the tank lacks or the signer refuses people can mend.
      const mayPass = isHomeLeft || ['held', 'tank_low', 'top_ups_used', 'never_given'].includes(which);
      const reason = which === 'never_given' ? 'gas_ceiling' : which;
      expect(step).toEqual({ do: 'wait', reason, isOver: !mayPass });
      expect(world.tokens[0]?.get('USDT')).toBe(1n);
      expect([...(world.tokens[1]?.values() ?? [])]).toEqual([0n, 0n]);
      if (!isHomeLeft) expect(world.native[1]).toBeLessThanOrEqual(10n * FEES.plain);
    }),
  );
});

test('what one wallet was robbed of keeps no ether from another, and coins do not wait for the account', () => {
  fc.assert(
    fc.property(worlds, fc.constantFrom('missing', 'open'), (some, account) => {
      const one = () => new Map<Asset, bigint>([['USDT', 1n]]);
      const world = { ...some, account, cost: 0n, owner: 0n, native: [0n, 0n], tokens: [one(), one()] };
      const robbed = ['hot:0', 'owner'] as const;
      const given = new Map(robbed.map((to) => [to, CEILING]));
      const isRobbed = { ...limitsOf(world), given };
      // The account and its owner come first, where the tank can.
      const first = nextRotationStep(factsOf(world), isRobbed, false);
      if (account === 'missing') expect(first).toMatchObject({ do: 'move', movement: { kind: 'account' } });
      else expect(first).toMatchObject({ do: 'move', by: 'tank', movement: { kind: 'gas', to: 'hot:1' } });
      // Where it cannot, coins leave with the ether that their wallet has.
      const rich = factsOf({ ...world, native: [0n, FEES.move] });
      expect(nextRotationStep(rich, { ...isRobbed, tankSpending: 10n ** 9n }, false)).toMatchObject({
        do: 'move',
        by: 'hot:1',
      });
    }),
  );
});

test('a wallet is set aside for ether that was taken after two minutes, and for anything else after an hour', () => {
  const times = fc.record({
    sent: fc.option(fc.integer({ min: 0, max: 7_200 }), { nil: null }),
    age: fc.nat(7_200),
  });
  const world = fc.record({
    native: amount(100n),
    cost: fc.option(amount(100n), { nil: null }),
    isGettingGas: fc.boolean(),
  });
  fc.assert(
    fc.property(times, world, ({ sent, age }, { native, cost, isGettingGas }) => {
      const nowSeconds = 1_000_000;
      const sentAt = sent === null ? null : BigInt(nowSeconds - sent);
      const one = { cost, sentAt, createdAt: BigInt(nowSeconds - age) };
      const reason = reasonToSetAside(one, { native, isGettingGas, nowSeconds });
      const isShort = cost !== null && native < cost && !isGettingGas;
      // Each version is sent anew, and keeps nobody waiting longer.
      if (isShort && (sent ?? 0) >= 120) expect(reason).toBe('taken');
      else expect(reason).toBe(age >= 3_600 ? 'stuck' : undefined);
    }),
  );
});
