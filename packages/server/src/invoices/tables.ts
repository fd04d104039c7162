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
      /** What is to be paid, after `credit_applied_amount`. */
      amount_due: bigint;
      /** Paid by earlier credits. */
      credit_applied_amount: Generated<bigint>;
      /** The part of a paid invoice that was returned as a credit. */
      credited_amount: Generated<bigint>;
      /** A reduction made while a payment was pending: deducted if that fails, a credit if it succeeds. */
      reduction_amount: Generated<bigint>;
      currency: string;
      status: InvoiceStatus;
      payment_status: InvoicePaymentStatus;
      billing_reason: BillingReason;
      interval: BillingInterval;
      period_start: Int8;
      period_end: Int8;
      /** Records a period that passed while an earlier one was unpaid. */
      skipped: Generated<boolean>;
      /** The session of its payment page. */
      session_id: string | null;
      /** The payment of its page. */
      page_payment_id: ColumnType<string | null, string | null | undefined>;
      /** The payment of its newest charge. */
      charge_payment_id: string | null;
      /** The payment of its pending charge; null: none is pending. */
      live_attempt: string | null;
      /** When a charge was last ordered or declined. */
      attempt_at: ColumnType<Int8 | null, Int8 | null | undefined>;
      /** The three are the part of a mandate's cap that the newest charge uses; null where it uses none. */
      charge_method_id: ColumnType<string | null, string | null | undefined>;
      charge_window_start: ColumnType<Int8 | null, Int8 | null | undefined>;
      charge_amount: ColumnType<bigint | null, bigint | null | undefined>;
      /** Failed charges that count as tries. */
      tries: Generated<number>;
      next_try_at: Int8 | null;
      /** The mandate is revoked or its wallet sanctioned: only another mandate may be charged. */
      charges_ended: Generated<boolean>;
      /** When its dunning days start; null: not overdue. */
      overdue_from: ColumnType<Int8 | null, Int8 | null | undefined>;
      /** Dunning days that have passed. */
      dunning_days_spent: Generated<number>;
      due_date: Int8;
      /** The merchant's total suspension time by which its times were already shifted. */
      suspended_seconds: ColumnType<Int8, Int8 | undefined>;
      paid_at: Int8 | null;
      created_at: Int8;
    };
  }
}
