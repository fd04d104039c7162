import type { ChainCaps, TxStatus } from '../chains/index.ts';
import { paidItems } from './states.ts';

// Compares the books of a decided attempt with the chain, item by item, so that the result does not depend on how often or
// in which order blocks are taken back and mined again:
// - paid in the books, and finally not on the chain: lost, until two people decide about it;
// - lost in the books, and on the chain: found, and paid again in the books;
// - not paid in the books, and on the chain: stray, the operator's loss while it stays there.

/** The state of one of the attempt's transfers in the books. */
export interface BookedItem {
  transferId: string;
  /** `paid` and `lost`: by this very transaction. `other`: it failed, or another transaction carries or paid it. */
  booked: 'paid' | 'lost' | 'queued' | 'other';
}

export type Comparison =
  /** In a block that is not final, or the answer contradicts itself. */
  | { is: 'undecided' }
  /** In no block, and it may still be mined. */
  | { is: 'away' }
  | { is: 'decided'; lost: string[]; found: string[]; adopted: string[]; stray: string[] };

/** @param items in the order of the transaction's items */
export function compareWithChain(
  status: TxStatus,
  items: readonly BookedItem[],
  caps: ChainCaps,
): Comparison {
  if (status.state === 'unknown' || status.state === 'pending') return { is: 'away' };
  // A payment to ourselves has no transfers to compare.
  const paid = items.length === 0 && status.final ? [] : paidOnChain(status, items.length, caps);
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

function paidOnChain(status: TxStatus, count: number, caps: ChainCaps): boolean[] | undefined {
  if (!status.final) return undefined;
  if (status.state === 'dead') return Array<boolean>(count).fill(false);
  return paidItems(status, count, caps);
}
