import type { Asset } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
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
import { nextRotationStep, type RotationLimits, type RotationStep, tokenIn } from './decide.ts';

// What wallets keep while everything else goes on.

const KEEPING = {
  taken: { unpaid: new Set([OLD[0]]) },
  gas_ceiling: { given: new Map([['hot:0' as const, CEILING]]) },
  held: { held: new Set(['hot:0' as const]) },
  refused: { resting: new Set([tokenIn(OLD[0], 'USDT')]) },
  tank_low: { tankSpending: 10n ** 9n },
  top_ups_used: { topUps: 10n ** 9n },
} satisfies Partial<Record<string, Partial<RotationLimits>>>;

test('one wallet that keeps its coins holds up no other, and the next rotation waits only for what may pass', () => {
  const reasons = fc.constantFrom('taken', 'gas_ceiling', 'held', 'refused', 'tank_low', 'top_ups_used');
  fc.assert(
    fc.property(worlds, held, reasons, fc.boolean(), (some, other, reason, isHomeLeft) => {
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
        step = nextRotationStep({ ...facts, tank }, { ...limitsOf(world), ...KEEPING[reason] }, false);
        if (step.do !== 'move') break;
        expect(step.by).toBe('hot:1');
        happen(world, step);
      }
      // Charges may come while home has not moved, and what the tank lacks or the signer refuses people can mend.
      const mayPass = isHomeLeft || ['held', 'tank_low', 'top_ups_used'].includes(reason);
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
