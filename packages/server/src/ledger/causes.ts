import type { IdKind } from '../platform/ids.ts';

/** What may cause an entry, and the kind of id by which callers know it. */
export const CAUSE_KINDS = {
  fund: 'fund',
  payout_batch: 'payoutBatch',
  payout_item: 'payoutItem',
  payment: 'payment',
} as const satisfies Record<string, IdKind>;
export type CauseType = keyof typeof CAUSE_KINDS;
