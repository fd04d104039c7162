import type { ChainCaps, TxStatus } from '../chains/index.ts';
import { paidItems } from './states.ts';

// What a second look at a decided attempt says. The books and the chain are compared item by item, so that the answer is
// the same however often and in whatever order blocks are taken back and mined again:
// paid in the books and not on the chain, for good: lost, until two people decide what becomes of it.
// lost and on the chain after all: as if nothing had been.
// not paid in the books and on the chain: stray, the operator's loss as long as it stays there.

/** A transfer of the attempt, as the books have it. */
export interface BookedItem {
  transferId: string;
  /** `paid` and `lost`: by this very transaction. `other`: it failed, or another transaction carries or paid it. */
  booked: 'paid' | 'lost' | 'queued' | 'other';
}

export type SecondLook =
  /** In a block that is not final, or the answer contradicts itself: nothing to be said yet. */
  | { is: 'undecided' }
  /** In no block, and it may still get into one. */
  | { is: 'away' }
  | { is: 'decided'; lost: string[]; found: string[]; adopted: string[]; stray: string[] };

/** @param items in the order of the transaction's */
export function lookAgain(status: TxStatus, items: readonly BookedItem[], caps: ChainCaps): SecondLook {
  if (status.state === 'unknown' || status.state === 'pending') return { is: 'away' };
  // One that was emptied pays ourselves: there is nothing to compare but that it is over.
  const paid = items.length === 0 && status.final ? [] : chainSays(status, items.length, caps);
  if (paid === undefined) return { is: 'undecided' };
  const those = (booked: BookedItem['booked'], isPaid: boolean) =>
    items.flatMap((item, i) => (item.booked === booked && paid[i] === isPaid ? [item.transferId] : []));
  return {
    is: 'decided',
    lost: those('paid', false),
    found: those('lost', true),
    adopted: those('queued', true),
    stray: those('other', true),
  };
}

function chainSays(status: TxStatus, count: number, caps: ChainCaps): boolean[] | undefined {
  if (!status.final) return undefined;
  if (status.state === 'dead') return Array<boolean>(count).fill(false);
  return paidItems(status, count, caps);
}
