import type {
  BillingInterval,
  BillingReason,
  InvoicePaymentStatus,
  InvoiceStatus,
} from '@florin/contract/schemas';
import type { Generated } from 'kysely';

type Int8 = bigint | number;

declare module '../platform/db.ts' {
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
      currency: string;
      status: InvoiceStatus;
      payment_status: InvoicePaymentStatus;
      billing_reason: BillingReason;
      interval: BillingInterval;
      period_start: Int8;
      period_end: Int8;
      skipped: Generated<boolean>;
      session_id: string | null;
      charge_payment_id: string | null;
      live_attempt: string | null;
      tries: Generated<number>;
      next_try_at: Int8 | null;
      charges_ended: Generated<boolean>;
      due_date: Int8;
      paid_at: Int8 | null;
      created_at: Int8;
    };
  }
}
