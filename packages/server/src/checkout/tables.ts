import type { PaymentOption } from '@florin/contract/schemas';
import type { ColumnType } from 'kysely';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    checkout_session: {
      merchant_id: string;
      session_id: string;
      store_id: string;
      payment_id: string;
      page_token: string;
      order_id: string | null;
      description: string | null;
      customer_email: string | null;
      success_url: string | null;
      cancel_url: string | null;
      options: ColumnType<PaymentOption[], string, never>;
      /** The period of an invoice. */
      period_start: Int8 | null;
      period_end: Int8 | null;
      created_at: Int8;
    };
  }
}
