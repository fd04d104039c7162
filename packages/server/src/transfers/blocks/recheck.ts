import type { ChainCapabilities, TxStatus } from '../../chains/port/index.ts';
import { movedItems, paidBefore } from '../states.ts';

// Compares the books of a decided attempt with the chain, item by item, so that the result does not depend on how often or
// in which order blocks are taken back and mined again:
// - paid in the books, and finally not on the chain: lost, until two people decide about it;
// - lost in the books, and on the chain: found, and paid again in the books;
// - paid in the books, and on the chain by an earlier transaction: that one is written as its payer, if it is ours;
// - not paid in the books, and on the chain: stray, the operator's loss while it stays there.

/** The state of one of the attempt's transfers in the books. */
export interface BookedItem {
  transferId: string;
  /**
   * `paid`: by this very transaction. `lost`: by this one or by another one that carried it. `other`: it failed, or another
   * transaction carries or paid it.
   */
  booked: 'paid' | 'lost' | 'queued' | 'other';
}

export type Comparison =
  /** In a block that is not final, or the answer contradicts itself. */
  | { is: 'undecided' }
  /** In no block, and it may still be mined. */
  | { is: 'away' }
  | { is: 'decided'; lost: string[]; earlier: string[]; found: string[]; adopted: string[]; stray: string[] };

/** @param items in the order of the transaction's items */
export function compareWithChain(
  status: TxStatus,
  items: readonly BookedItem[],
  capabilities: ChainCapabilities,
): Comparison {
  if (status.state === 'unknown' || status.state === 'pending') return { is: 'away' };
  // A payment to ourselves has no transfers to compare.
  const moved = items.length === 0 && status.final ? [] : movedOnChain(status, items.length, capabilities);
  if (moved === undefined) return { is: 'undecided' };
  const before = paidBefore(status, items.length);
  const those = (booked: BookedItem['booked'], isIt: (i: number) => boolean) =>
    items.flatMap((item, i) => (item.booked === booked && isIt(i) ? [item.transferId] : []));
  const isPaid = (i: number) => moved[i] === true || before[i] === true;
  return {
    is: 'decided',
    lost: those('paid', (i) => !isPaid(i)),
    earlier: those('paid', (i) => before[i] === true),
    found: those('lost', (i) => moved[i] === true),
    adopted: those('queued', isPaid),
    // Where an earlier transaction has paid it, that one is stray, if any is.
    stray: those('other', (i) => moved[i] === true),
  };
}

function movedOnChain(
  status: TxStatus,
  count: number,
  capabilities: ChainCapabilities,
): boolean[] | undefined {
  if (!status.final) return undefined;
  if (status.state === 'dead') return Array<boolean>(count).fill(false);
  return movedItems(status, count, capabilities);
}
