import { type Posting, reversed } from '../ledger/index.ts';
import type { BatchRow, ItemRow } from './queries.ts';

/** The reservation of a submit: total and fees out of the balance, and the coins on the network. */
export function reservePostings(batch: BatchRow): Posting[] {
  const { currency, network, debit_amount: debit, requested_amount: total } = batch;
  const cause = { type: 'payout_batch', id: batch.batch_id } as const;
  return [
    { debit: 'available', credit: 'payout_hold', currency, network, amount: debit, cause },
    {
      debit: `custody_hold:${network}`,
      credit: `custody:${network}`,
      currency,
      network,
      amount: total,
      cause,
    },
  ];
}

/** The release of a canceled or rejected batch: the whole reservation. */
export function releaseBatchPostings(batch: BatchRow): Posting[] {
  return reversed(reservePostings(batch));
}

/** A paid item: the coins are gone, the fee is charged. */
export function settlePostings(batch: BatchRow, item: ItemRow): Posting[] {
  const { currency, network } = batch;
  const cause = { type: 'payout_item', id: item.item_id } as const;
  const paid: Posting = {
    debit: 'payout_hold',
    credit: `custody_hold:${network}`,
    currency,
    network,
    amount: item.amount,
    cause,
  };
  if (item.service_fee_amount === 0n) return [paid];
  return [
    paid,
    { debit: 'payout_hold', credit: 'fees', currency, network, amount: item.service_fee_amount, cause },
  ];
}

/** A failed item: amount and fee go back, the coins are free again. */
export function releasePostings(batch: BatchRow, item: ItemRow): Posting[] {
  const { currency, network } = batch;
  const cause = { type: 'payout_item', id: item.item_id } as const;
  const back = item.amount + item.service_fee_amount;
  return [
    { debit: 'payout_hold', credit: 'available', currency, network, amount: back, cause },
    {
      debit: `custody:${network}`,
      credit: `custody_hold:${network}`,
      currency,
      network,
      amount: item.amount,
      cause,
    },
  ];
}

/** A lost item whose money is given back: its settlement is reversed, and it is released like a failed one. */
export function giveBackPostings(batch: BatchRow, item: ItemRow): Posting[] {
  return [...reversed(settlePostings(batch, item)), ...releasePostings(batch, item)];
}
