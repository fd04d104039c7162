import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TxStatus } from '../../chains/port/index.ts';
import { type BookedItem, compareWithChain } from './recheck.ts';

const capabilities = {
  maxItemsPerTx: 9,
  partialBatch: true,
  replaceByFee: true,
  windowCap: true,
  prechecksCharges: false,
  sweepsPerTx: 0,
  confirmations: { final: 3, early: null },
  lendsStake: false,
  callsAtOnce: 4,
};
const items = fc
  .array(fc.constantFrom<BookedItem['booked']>('paid', 'lost', 'queued', 'other'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((list) => list.map((booked, i): BookedItem => ({ transferId: String(i), booked })));
const status = (count: number) =>
  fc.record({
    state: fc.constantFrom<TxStatus['state']>('unknown', 'pending', 'included', 'final', 'failed', 'dead'),
    final: fc.boolean(),
    itemOk: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
  });

test('books follow the chain item by item, and only by a final answer', () => {
  fc.assert(
    fc.property(
      items.chain((list) => fc.tuple(fc.constant(list), status(list.length))),
      ([list, said]) => {
        const comparison = compareWithChain(said, list, capabilities);
        if (comparison.is !== 'decided') return;
        expect(said.final).toBe(true);
        const isPaid = (i: number) => said.state === 'final' && said.itemOk[i] === true;
        for (const [i, { transferId, booked }] of list.entries()) {
          const lists = [comparison.lost, comparison.found, comparison.adopted, comparison.stray].map((ids) =>
            ids.includes(transferId),
          );
          expect(lists).toEqual([
            booked === 'paid' && !isPaid(i),
            booked === 'lost' && isPaid(i),
            booked === 'queued' && isPaid(i),
            booked === 'other' && isPaid(i),
          ]);
        }
      },
    ),
  );
});

test('nothing is lost, found or stray by an answer that is not final', () => {
  for (const state of ['unknown', 'pending', 'included', 'final', 'failed'] as const) {
    const comparison = compareWithChain(
      { state, final: false, itemOk: [true] },
      [{ transferId: 'a', booked: 'paid' }],
      capabilities,
    );
    expect(comparison.is).not.toBe('decided');
  }
});
