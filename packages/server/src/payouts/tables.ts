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
      frozen_amount: Generated<bigint>;
      charged_service_fee_amount: Generated<bigint>;
      validation_errors: JSONColumnType<ValidationError[]>;
      items_digest: Buffer | null;
      /** Owners of the keys that created, edited or submitted it. */
      owners: Generated<string[]>;
      /** People who did so themselves, by the console. */
      authors: Generated<string[]>;
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
      lost_at: Int8 | null;
    };
    payout_quota: { merchant_id: string; currency: Asset; day: number; amount: bigint };
  }
}
