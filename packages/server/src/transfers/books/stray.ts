import type { Network } from '@florin/contract/money';
import type { Posting } from '../../ledger/index.ts';
import type { CarriedTransfer } from '../blocks/recheck-queries.ts';

/** An item has one settling entry, while stray entries can repeat, so their cause is the batch. */
function causeOf({ ownerType, ownerId, groupId }: CarriedTransfer): Posting['cause'] | undefined {
  if (ownerType === 'payout_item') return { type: 'payout_batch', id: groupId };
  if (ownerType === 'refund') return { type: 'refund', id: ownerId };
  return ownerType === 'charge' ? { type: 'payment', id: ownerId } : undefined;
}

/**
 * Postings for transfers that were paid although they were decided otherwise. Coins that left are the operator's loss;
 * coins that a charge brought are kept for their rightful owner. A sweep moves our own coins, so nothing is booked. A stray
 * payment that is gone again is reversed.
 */
export function strayPostings(
  items: readonly CarriedTransfer[],
  { network, before, now }: { network: Network; before: readonly string[]; now: readonly string[] },
): Posting[] {
  return items.flatMap((item): Posting[] => {
    const [was, is] = [before, now].map((ids) => ids.includes(item.transferId));
    const cause = causeOf(item);
    if (was === is || cause === undefined) return [];
    const { amount, currency } = item;
    const common = { network, amount, currency, cause };
    const [debit, credit] = item.isCharge
      ? ([`float:${network}`, `kept:${network}`] as const)
      : ([`reorg_loss:${network}`, `float:${network}`] as const);
    return [is ? { ...common, debit, credit } : { ...common, debit: credit, credit: debit }];
  });
}
