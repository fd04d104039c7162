import type { Network } from '@florin/contract/money';
import type { Posting } from '../ledger/index.ts';
import type { Carried } from './final-queries.ts';

/** Entries of one item come once; what is stray may be taken back and come again, so its batch is the cause. */
function causeOf({ ownerType, ownerId, groupId }: Carried): Posting['cause'] | undefined {
  if (ownerType === 'payout_item') return { type: 'payout_batch', id: groupId };
  if (ownerType === 'refund') return { type: 'refund', id: ownerId };
  return ownerType === 'charge' ? { type: 'payment', id: ownerId } : undefined;
}

/**
 * What was paid although it was decided otherwise. Coins that left are the operator's loss; coins that a charge brought
 * are kept for whoever has a right to them. A sweep moves our own coins: nothing is booked. What was booked before and is
 * not there any more is booked back.
 */
export function strayPostings(
  items: readonly Carried[],
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
