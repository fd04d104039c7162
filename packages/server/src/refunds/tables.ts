import type { Asset, Network } from '@florin/contract/money';
import type { Metadata, RefundFailure, RefundStatus, RefundWait } from '@florin/contract/schemas';
import type { ColumnType, Generated } from 'kysely';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    refund: {
      merchant_id: string;
      refund_id: string;
      /** The merchant's `refund_id`. */
      own_id: string;
      store_id: string;
      payment_id: string;
      source_tx_id: string | null;
      source_index: number | null;
      currency: Asset;
      network: Network;
      amount: bigint;
      address: string | null;
      status: RefundStatus;
      tx_id: string | null;
      failure_reason: RefundFailure | null;
      waiting_for: RefundWait | null;
      reason: string | null;
      metadata: Generated<Metadata>;
      claim_secret: Buffer | null;
      claim_ends_at: Int8 | null;
      suspended_seconds: Generated<Int8>;
      created_by_owner: string | null;
      /** People of the console who did so, or hold the key that did. */
      authors: Generated<string[]>;
      /** The one of them who sent it, signed in; null: a key did. */
      made_by_user: string | null;
      addressed_at: Int8 | null;
      required_approvals: Generated<number>;
      /** Null: no signer asks for any. */
      required_signatures: Generated<number | null>;
      approval_digest: Buffer | null;
      approved_at: Int8 | null;
      short_since: Int8 | null;
      day: number;
      created_at: Int8;
      completed_at: Int8 | null;
      lost_at: ColumnType<Int8 | null, Int8 | null | undefined, Int8 | null>;
    };
    refund_quota: { merchant_id: string; store_id: string; day: number; amount: bigint };
  }
}
