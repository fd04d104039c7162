import type { Db } from '../platform/db/index.ts';
import type { IdKind } from '../tenancy/index.ts';

/** What may cause an entry, and the kind of id by which callers know it. */
export const CAUSE_KINDS = {
  fund: 'fund',
  fill: 'fill',
  surplus: 'surplus',
  payout_batch: 'payoutBatch',
  payout_item: 'payoutItem',
  payment: 'payment',
} as const satisfies Record<string, IdKind>;

/** Causes that callers know by a name of the merchant's own. */
export type NamedCauseType = 'refund';
export type CauseType = keyof typeof CAUSE_KINDS | NamedCauseType;

/** Who owns such causes tells their names. */
export interface CauseNames {
  namesOf(db: Db, merchantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  findByName(db: Db, merchantId: string, name: string): Promise<string | undefined>;
}
