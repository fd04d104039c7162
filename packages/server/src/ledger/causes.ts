import type { Db } from '../platform/db/index.ts';
import type { IdKind } from '../tenancy/index.ts';

/** The types of causes, each with the kind of its public id. */
export const CAUSE_KINDS = {
  fund: 'fund',
  fill: 'fill',
  surplus: 'surplus',
  payout_batch: 'payoutBatch',
  payout_item: 'payoutItem',
  payment: 'payment',
} as const satisfies Record<string, IdKind>;

/** Types of causes whose public id is chosen by the merchant. */
export type NamedCauseType = 'refund';
export type CauseType = keyof typeof CAUSE_KINDS | NamedCauseType;

/** Looks up merchants' own ids of causes; implemented by the module that owns them. */
export interface CauseNames {
  namesOf(db: Db, merchantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  findByName(db: Db, merchantId: string, name: string): Promise<string | undefined>;
}
