import type { BillingInterval, Metadata, SubscriptionStatus } from '@florin/contract/schemas';
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

type Int8 = bigint | number;

/** A stored item: its id as a UUID, and its price as text, because JSON numbers are too small. */
export interface StoredItem {
  id: string;
  product: string;
  unit_amount: string;
  quantity: number;
  metadata: Metadata;
}

/** `from` and `to` of a range, as text. */
export type StoredLevel = [from: string, to: string];

declare module '../platform/db/db.ts' {
  interface Tables {
    subscription: {
      merchant_id: string;
      subscription_id: string;
      store_id: string;
      customer_id: string;
      /** The merchant's own id of the customer. */
      customer: string;
      currency: string;
      description: string | null;
      status: SubscriptionStatus;
      items: JSONColumnType<StoredItem[]>;
      amount: bigint;
      /** What was billed of the last billed period, in ranges of the amount (`decide/billed-ranges.ts`). */
      billed_levels: ColumnType<StoredLevel[] | null, string | null | undefined, StoredLevel[] | null>;
      interval: BillingInterval;
      payment_method_id: string | null;
      billing_cycle_anchor: Int8;
      trial_end: Int8 | null;
      current_period_start: Int8;
      current_period_end: Int8;
      /** End of the newest skipped period; null: none was skipped since the last paid one. */
      skipped_until: ColumnType<Int8 | null, Int8 | null | undefined>;
      cancel_at: Int8 | null;
      canceled_at: Int8 | null;
      credit_amount: Generated<bigint>;
      /** The items from the next period on; null: the same. */
      pending_items: ColumnType<StoredItem[] | null, string | null, string | null>;
      latest_invoice_id: string | null;
      success_url: string | null;
      cancel_url: string | null;
      page_token: string;
      metadata: Generated<Metadata>;
      created_at: Int8;
    };
    portal_session: {
      merchant_id: string;
      portal_session_id: string;
      store_id: string;
      customer_id: string;
      customer: string;
      secret_hash: Buffer;
      return_url: string;
      expires_at: Int8;
      created_at: Int8;
    };
  }
}
