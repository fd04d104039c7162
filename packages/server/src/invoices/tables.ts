import type {
  BillingInterval,
  BillingReason,
  InvoicePaymentStatus,
  InvoiceStatus,
} from '@florin/contract/schemas';
import type { ColumnType, Generated } from 'kysely';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    invoice: {
      merchant_id: string;
      invoice_id: string;
      store_id: string;
      subscription_id: string;
      customer_id: string;
      /** The merchant's own id of the customer. */
      customer: string;
      amount_due: bigint;
      credit_applied_amount: Generated<bigint>;
      credited_amount: Generated<bigint>;
      reduction_amount: Generated<bigint>;
      currency: string;
      status: InvoiceStatus;
      payment_status: InvoicePaymentStatus;
      billing_reason: BillingReason;
      interval: BillingInterval;
      period_start: Int8;
      period_end: Int8;
      skipped: Generated<boolean>;
      session_id: string | null;
      page_payment_id: ColumnType<string | null, string | null | undefined>;
      charge_payment_id: string | null;
      live_attempt: string | null;
      attempt_at: ColumnType<Int8 | null, Int8 | null | undefined>;
      charge_method_id: ColumnType<string | null, string | null | undefined>;
      charge_window_start: ColumnType<Int8 | null, Int8 | null | undefined>;
      charge_amount: ColumnType<bigint | null, bigint | null | undefined>;
      tries: Generated<number>;
      next_try_at: Int8 | null;
      charges_ended: Generated<boolean>;
      overdue_from: ColumnType<Int8 | null, Int8 | null | undefined>;
      dunning_days_spent: Generated<number>;
      due_date: Int8;
      suspended_seconds: ColumnType<Int8, Int8 | undefined>;
      paid_at: Int8 | null;
      created_at: Int8;
    };
  }
}
