import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TxStatus } from '../../packages/server/src/chains/port/index.ts';
import { BlockClock, FIRST_HEIGHT } from '../../packages/server/src/chains/simulated/block-clock.ts';
import { emptyChargeState } from '../../packages/server/src/chains/simulated/charge-rules.ts';
import {
  balanceKey,
  type ExecutionState,
  execute,
  type IncludedTx,
  type PooledTx,
} from '../../packages/server/src/chains/simulated/execute.ts';
import { NETWORK_RULES } from '../../packages/server/src/chains/simulated/rules.ts';
import { testAddresses } from '../../packages/server/src/chains/simulated/test-addresses.ts';
import { judgeAttempt } from '../../packages/server/src/transfers/states.ts';

// A group whose attempts were made as a lying node suggested: any of them may carry any place, be mined in any order, or
// never. Whatever happens, a place is paid at most once, and each attempt is booked as the chain says.

const SENDER = 'sender';
const PLACES = 6;
const CAPABILITIES = { ...NETWORK_RULES.erc20.capabilities, confirmations: { final: 3, early: null } };
const START = { genesis_at: 0n, height_offset: 0n, settled_height: FIRST_HEIGHT, settled_at: 0n };

const attempt = fc.record({
  places: fc.uniqueArray(fc.nat(PLACES - 1), { minLength: 1 }),
  /** Blocks are made after it arrives. */
  seconds: fc.nat(3),
});
const history = fc.record({
  attempts: fc.array(attempt, { minLength: 1, maxLength: 8 }),
  bad: fc.uniqueArray(fc.nat(PLACES - 1), { maxLength: 2 }),
  coins: fc.nat(40),
  isOk: fc.boolean(),
});

/** Networks report what was paid before as ok, or as not. */
const statusOf = ({ itemOk, paidBefore, reason }: IncludedTx, isOk: boolean): TxStatus => {
  const failed = itemOk.length === 1 && itemOk[0] === false && !paidBefore[0];
  return {
    state: failed ? 'failed' : 'final',
    final: true,
    itemOk: itemOk.map((ok, i) => ok || (isOk && paidBefore[i] === true)),
    ...(paidBefore.includes(true) ? { paidBefore } : {}),
    ...(reason === null ? {} : { reason }),
  };
};

function pooled(places: readonly number[], number: number, bad: readonly number[]): PooledTx {
  const items = places.map((place) => ({
    id: `${place} of ${number}`,
    place,
    to: bad.includes(place) ? testAddresses('erc20').fail : `recipient-${place}`,
    amount: String(place + 1),
  }));
  const body = { chainId: 'chain', network: 'erc20' as const, sender: SENDER, asset: 'USDT' as const };
  return {
    txId: `tx-${number}`,
    notBefore: 0,
    body: { ...body, batchId: 'group', items, fee: '1', sequence: String(number) },
  };
}

test('J1: whatever is mined in whatever order, a place is paid at most once and booked as the chain says', () => {
  fc.assert(
    fc.property(history, ({ attempts, bad, coins, isOk }) => {
      const state: ExecutionState = {
        balances: new Map([[balanceKey(SENDER, 'USDT'), BigInt(coins)]]),
        paidPlaces: new Set(),
        nextSequence: new Map([[SENDER, 0n]]),
        usedSequences: new Set(),
        charges: emptyChargeState(),
      };
      const waiting: PooledTx[] = [];
      const paidBy = new Map<number, string>();
      let now = 0;
      for (const [number, { places, seconds }] of attempts.entries()) {
        waiting.push(pooled(places, number, bad));
        now += seconds;
        const clock = new BlockClock(START, now, { blockSeconds: 1, confirmations: 3 });
        const { included, movements, nextSequence } = execute('erc20', waiting, state, clock);
        for (const [sender, next] of nextSequence) state.nextSequence.set(sender, next);
        for (const one of included) {
          const at = waiting.findIndex(({ txId }) => txId === one.txId);
          const [tx] = waiting.splice(at, 1);
          const carried = (tx?.body.items ?? []).map(({ place = -1 }) => place);
          const transfers = carried.map((place) => ({ transferId: String(place) }));
          const verdict = judgeAttempt(statusOf(one, isOk), transfers, CAPABILITIES);
          for (const [i, place] of carried.entries()) {
            const moves = movements.filter((move) => move.txId === one.txId && move.place === place).length;
            const before = paidBy.get(place);
            expect(moves).toBeLessThanOrEqual(before === undefined ? 1 : 0);
            if (moves === 1) paidBy.set(place, one.txId);
            const booked = verdict?.transfers[i];
            if (before !== undefined) expect(booked).toMatchObject({ to: 'succeeded', paidBefore: true });
            else expect(booked?.to).toBe(moves === 1 ? 'succeeded' : 'failed');
          }
        }
      }
    }),
  );
});
