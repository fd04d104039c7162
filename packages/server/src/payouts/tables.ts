import type { Asset, Network } from '@florin/contract/money';
import type { PayoutBatchStatus, PayoutItemStatus, ValidationError } from '@florin/contract/schemas';
import type { Generated, JSONColumnType } from 'kysely';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    payout_batch: {
      merchant_id: string;
      batch_id: string;
      store_id: string;
      /** Null: a person created it. */
      key_id: string | null;
      idempotency_key: string;
      currency: Asset;
      network: Network;
      status: PayoutBatchStatus;
      description: string | null;
      total_count: number;
      valid_count: number;
      invalid_count: number;
      success_count: Generated<number>;
      failed_count: Generated<number>;
      requested_amount: bigint;
      total_amount: bigint;
      service_fee_amount: bigint;
      debit_amount: bigint;
      /** The held amount: reserved, and not yet paid, charged or released. */
      frozen_amount: Generated<bigint>;
      charged_service_fee_amount: Generated<bigint>;
      validation_errors: JSONColumnType<ValidationError[]>;
      /** SHA-256 of the batch and its items as they were submitted: what was approved is what is paid. */
      items_digest: Buffer | null;
      /** The people who own the API keys that created, edited or submitted it: none of them may approve it. */
      owners: Generated<string[]>;
      /** People who did so themselves, by the console. */
      authors: Generated<string[]>;
      /** The day, since the epoch, whose quota it takes. */
      submitted_day: number | null;
      required_approvals: Generated<number>;
      /** Null: no signer asks for any. */
      required_signatures: Generated<number | null>;
      created_at: Int8;
      submitted_at: Int8 | null;
      completed_at: Int8 | null;
    };
    payout_item: {
      merchant_id: string;
      batch_id: string;
      index: number;
      item_id: string;
      real_name: string | null;
      network: Network;
      address: string;
      memo: string | null;
      amount: bigint;
      service_fee_amount: bigint;
      status: PayoutItemStatus;
      validation_errors: JSONColumnType<ValidationError[]>;
      tx_id: string | null;
      failure_code: 'address_risk' | 'transfer_failed' | null;
      failure_message: string | null;
      created_at: Int8;
      completed_at: Int8 | null;
      /** When a reorganisation below finality took its payment; null again once it is found or repaid. */
      lost_at: Int8 | null;
    };
    payout_quota: { merchant_id: string; currency: Asset; day: number; amount: bigint };
  }
}
