import type { Network } from '@florin/contract/money';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockClock, FIRST_HEIGHT } from './block-clock.ts';
import { emptyChargeState } from './charge-rules.ts';
import { balanceKey, type ExecutionState, execute, type PooledTx } from './execute.ts';
import { NETWORK_RULES } from './rules.ts';
import { testAddresses } from './test-addresses.ts';

const SETTINGS = { blockSeconds: 1, confirmations: 3 };
const SENDER = 'sender';

function clockAt(seconds: number): BlockClock {
  const time = { genesis_at: 0n, height_offset: 0n, settled_height: FIRST_HEIGHT, settled_at: 0n };
  return new BlockClock(time, seconds, SETTINGS);
}

function stateWith(balance: bigint): ExecutionState {
  const balances = new Map([[balanceKey(SENDER, 'USDT'), balance]]);
  return {
    balances,
    paidPlaces: new Set(),
    nextSequence: new Map([[SENDER, 0n]]),
    usedSequences: new Set(),
    charges: emptyChargeState(),
  };
}

interface Draft {
  sequence: number;
  notBefore: number;
  items: { id: number; bad: boolean; amount: number }[];
}

function pooled(network: Network, draft: Draft, number: number): PooledTx {
  const { sequenced } = NETWORK_RULES[network];
  const items = draft.items.slice(0, NETWORK_RULES[network].capabilities.maxItemsPerTx).map((item) => ({
    id: `item-${item.id} of ${number}`,
    place: item.id,
    to: item.bad ? testAddresses(network).fail : `recipient-${item.id}`,
    amount: String(item.amount),
  }));
  const body = {
    chainId: 'chain',
    network,
    sender: SENDER,
    asset: 'USDT' as const,
    batchId: 'b',
    items,
    fee: '1',
  };
  const sequence = sequenced ? { sequence: String(draft.sequence) } : {};
  return { txId: `tx-${number}`, notBefore: draft.notBefore, body: { ...body, ...sequence } };
}

const draft = fc.record({
  sequence: fc.nat(12),
  notBefore: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(40) }),
  items: fc.array(fc.record({ id: fc.nat(20), bad: fc.boolean(), amount: fc.integer({ min: 1, max: 50 }) }), {
    minLength: 1,
    maxLength: 5,
  }),
});
/** One transaction per sequence, as the chain's unique index enforces. */
const pool = fc.uniqueArray(draft, { selector: (one) => one.sequence, maxLength: 12 });
const world = fc.record({ drafts: pool, balance: fc.nat(300), seconds: fc.nat(30) });

describe.each<Network>(['erc20', 'trc20', 'spl'])('%s', (network) => {
  const run = ({ drafts, balance, seconds }: { drafts: Draft[]; balance: number; seconds: number }) => {
    const txs = drafts.map((one, i) => pooled(network, one, i));
    const state = stateWith(BigInt(balance));
    return { txs, state, result: execute(network, txs, state, clockAt(seconds)), clock: clockAt(seconds) };
  };

  test('the amounts that leave the sender arrive, and never exceed its balance', () => {
    fc.assert(
      fc.property(world, (input) => {
        const { state, result } = run(input);
        const moved = result.movements.reduce((sum, movement) => sum + movement.amount, 0n);
        expect(state.balances.get(balanceKey(SENDER, 'USDT'))).toBe(BigInt(input.balance) - moved);
        expect(moved).toBeLessThanOrEqual(BigInt(input.balance));
      }),
    );
  });

  test('movements are exactly the items reported as ok; atomic transactions move all or nothing', () => {
    fc.assert(
      fc.property(world, (input) => {
        const { result } = run(input);
        for (const { txId, itemOk } of result.included) {
          const indexes = result.movements.filter((one) => one.txId === txId).map((one) => one.index);
          expect(indexes).toEqual(itemOk.flatMap((ok, index) => (ok ? [index] : [])));
          const isAtomic = !NETWORK_RULES[network].capabilities.partialBatch;
          if (isAtomic) expect(new Set(itemOk).size).toBe(1);
        }
      }),
    );
  });

  test('transactions go into open blocks up to the height, in order of inclusion', () => {
    fc.assert(
      fc.property(world, (input) => {
        const { result, clock } = run(input);
        const heights = result.included.map(({ height }) => height);
        for (const height of heights) expect(height > FIRST_HEIGHT && height <= clock.height).toBe(true);
        expect(heights).toEqual(heights.toSorted((a, b) => Number(a - b)));
      }),
    );
  });
});

test('erc20: no place is paid twice, and a later transaction reports it as paid before, exactly then', () => {
  fc.assert(
    fc.property(world, ({ drafts, balance, seconds }) => {
      const txs = drafts.map((one, i) => pooled('erc20', one, i));
      const { movements, included } = execute('erc20', txs, stateWith(BigInt(balance)), clockAt(seconds));
      expect(new Set(movements.map((one) => one.place)).size).toBe(movements.length);
      const paid = new Set<number>();
      for (const { txId, itemOk, paidBefore } of included) {
        const items = txs.find((tx) => tx.txId === txId)?.body.items ?? [];
        for (const [i, { place = i, to }] of items.entries()) {
          expect(paidBefore[i]).toBe(to !== testAddresses('erc20').fail && paid.has(place));
          if (itemOk[i]) paid.add(place);
        }
      }
      expect(paid.size).toBe(movements.length);
    }),
  );
});

test('an attempt of earlier releases names no places: its items have those of their order', () => {
  const { body } = pooled('erc20', { sequence: 0, notBefore: 0, items: [] }, 0);
  const items = ['a', 'b', 'a'].map((id) => ({ id, to: id, amount: '1' }));
  const { included } = execute(
    'erc20',
    [{ txId: 'old', notBefore: 0, body: { ...body, items } }],
    stateWith(9n),
    clockAt(3),
  );
  expect(included).toMatchObject([{ itemOk: [true, true, true] }]);
});

test('J3: erc20: a transaction is mined only over lower ones that are mined or held back', () => {
  fc.assert(
    fc.property(world, ({ drafts, balance, seconds }) => {
      const txs = drafts.map((one, i) => pooled('erc20', one, i));
      const result = execute('erc20', txs, stateWith(BigInt(balance)), clockAt(seconds));
      const mined = new Set(result.included.map(({ txId }) => txId));
      const sequences = new Map(txs.map((tx) => [Number(tx.body.sequence), tx]));
      for (const tx of txs.filter(({ txId }) => mined.has(txId))) {
        for (let lower = 0; lower < Number(tx.body.sequence); lower++) {
          const below = sequences.get(lower);
          expect(below !== undefined && (mined.has(below.txId) || below.notBefore > seconds)).toBe(true);
        }
      }
      const next = Number(result.nextSequence.get(SENDER));
      const isMined = (sequence: number) => mined.has(sequences.get(sequence)?.txId ?? '');
      expect(Array.from({ length: next }, (_, i) => isMined(i))).toEqual(
        Array.from({ length: next }, () => true),
      );
      expect(isMined(next)).toBe(false);
    }),
  );
});
