import { NETWORKS } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Posting } from '../ledger/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import {
  giveBackPostings,
  releaseBatchPostings,
  releasePostings,
  reservePostings,
  settlePostings,
} from './postings.ts';
import type { BatchRow, ItemRow } from './queries.ts';

const NORMAL_DEBIT = ['custody', 'custody_hold'];

/** The change of each account, positive where it grew. */
function effect(postings: readonly Posting[]): Record<string, bigint> {
  const accounts: Record<string, bigint> = {};
  const add = (account: string, delta: bigint) => {
    const grows = NORMAL_DEBIT.includes(account.split(':')[0] ?? '') ? delta : -delta;
    accounts[account] = (accounts[account] ?? 0n) + grows;
  };
  for (const { debit, credit, amount } of postings) {
    expect(amount).toBeGreaterThan(0n);
    add(debit, amount);
    add(credit, -amount);
  }
  return Object.fromEntries(Object.entries(accounts).filter(([, change]) => change !== 0n));
}

interface Sample {
  batch: BatchRow;
  items: ItemRow[];
}
const sample: fc.Arbitrary<Sample> = fc
  .tuple(
    fc.constantFrom(...NETWORKS),
    fc.array(fc.tuple(fc.bigInt(1n, 10n ** 12n), fc.bigInt(0n, 10n ** 9n)), { minLength: 1, maxLength: 20 }),
  )
  .map(([network, sizes]) => {
    const items = sizes.map(
      ([amount, fee]) => ({ item_id: newId(), amount, service_fee_amount: fee }) as ItemRow,
    );
    const total = sizes.reduce((sum, [amount]) => sum + amount, 0n);
    const fees = sizes.reduce((sum, [, fee]) => sum + fee, 0n);
    const batch = { batch_id: newId(), currency: 'USDT', network, requested_amount: total } as BatchRow;
    return { batch: { ...batch, debit_amount: total + fees }, items };
  });

test('a batch that is reserved and released leaves every balance as it was', () => {
  fc.assert(
    fc.property(sample, ({ batch }) => {
      expect(effect([...reservePostings(batch), ...releaseBatchPostings(batch)])).toEqual({});
    }),
  );
});

test('fault 50: an item that was paid and is given back ends like one that failed', () => {
  fc.assert(
    fc.property(sample, ({ batch, items }) => {
      const paidAndBack = items.flatMap((item) => [
        ...settlePostings(batch, item),
        ...giveBackPostings(batch, item),
      ]);
      const failed = items.flatMap((item) => releasePostings(batch, item));
      expect(effect(paidAndBack)).toEqual(effect(failed));
      // Each entry of an item is unique.
      const keys = items.flatMap((item) =>
        [...settlePostings(batch, item), ...giveBackPostings(batch, item)].map(
          ({ debit, credit, cause }) => `${cause.id} ${debit} ${credit}`,
        ),
      );
      expect(new Set(keys).size).toBe(keys.length);
    }),
  );
});

test('H1: whatever the outcomes of the items, nothing stays on hold and the sum owed equals the coins', () => {
  fc.assert(
    fc.property(sample, fc.infiniteStream(fc.boolean()), ({ batch, items }, fates) => {
      let paid = 0n;
      let fees = 0n;
      const postings = items.flatMap((item) => {
        if (!fates.next().value) return releasePostings(batch, item);
        paid += item.amount;
        fees += item.service_fee_amount;
        return settlePostings(batch, item);
      });
      const expected = { available: -paid - fees, fees, [`custody:${batch.network}`]: -paid };
      const changed = Object.fromEntries(Object.entries(expected).filter(([, change]) => change !== 0n));
      expect(effect([...reservePostings(batch), ...postings])).toEqual(changed);
    }),
  );
});
