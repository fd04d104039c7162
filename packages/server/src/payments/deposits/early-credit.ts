import type { ChainTransfer, Confirmations, Head } from '../../chains/port/index.ts';
import { totalOf } from '../../platform/amounts.ts';
import { addWithin } from '../../platform/db/guards/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { PaymentSettings } from '../deps.ts';
import { type PaymentView, transactionKey } from '../reads/queries.ts';
import '../tables.ts';

// Ethereum's finality takes 13 to 15 minutes. A small payment does not wait for it: it is credited after 12 confirmations,
// at the operator's risk, which two limits bound: the sum of a payment and the sum of a store in a clock hour. A transfer
// that vanishes afterwards is booked as lost to a reorganisation deeper than finality (rescan.ts).

/** How deep a transfer must be to be credited. */
export interface CreditDepth {
  confirmations: Confirmations;
  /** The newest block with enough confirmations for early credit; undefined: none is given on this network now. */
  earlyUpTo: bigint | undefined;
}

/** @param isStopped an operator has to allow early credit again first */
export function creditDepth(confirmations: Confirmations, { height }: Head, isStopped: boolean): CreditDepth {
  const { early } = confirmations;
  const isGiven = early !== null && !isStopped;
  return { confirmations, earlyUpTo: isGiven ? height - BigInt(early) + 1n : undefined };
}

/**
 * Whether a payment is small enough for early credit: all its transfers of listed tokens together, including those that
 * were only seen.
 */
export function isSmall(
  { transactions }: Pick<PaymentView, 'transactions'>,
  found: readonly { key: string; transfer: ChainTransfer }[],
  { earlyCreditUpTo }: Pick<PaymentSettings, 'earlyCreditUpTo'>,
): boolean {
  const amounts = new Map<string, bigint>();
  for (const row of transactions)
    if (row.currency !== null && row.status !== 'gone') amounts.set(transactionKey(row), row.amount);
  for (const { key, transfer } of found) if (transfer.asset !== null) amounts.set(key, transfer.amount);
  return totalOf([...amounts.values()]) <= earlyCreditUpTo;
}

const HOUR_SECONDS = 3_600;

/** Takes from what a store may be credited early in this clock hour. @returns false where it does not fit */
export async function takeEarlyCredit(
  tx: Tx,
  { merchantId, storeId, amount }: { merchantId: string; storeId: string; amount: bigint },
  { earlyCreditPerHour: limit }: Pick<PaymentSettings, 'earlyCreditPerHour'>,
  nowSeconds: number,
): Promise<boolean> {
  const key = { merchant_id: merchantId, store_id: storeId, hour: Math.floor(nowSeconds / HOUR_SECONDS) };
  return await addWithin(tx, { table: 'early_credit', key }, amount, limit);
}
