import type { Asset, Network } from '@florin/contract/money';
import type {
  Metadata,
  PaymentException,
  PaymentStatus,
  PaymentTransactionKind,
  PaymentTransactionStatus,
} from '@florin/contract/schemas';
import type { ColumnType, Generated } from 'kysely';

type Int8 = bigint | number;
/** Written as JSON text; omitted for the column's default. */
type Json<T> = ColumnType<T, string | undefined, string>;

declare module '../platform/db/db.ts' {
  interface Tables {
    payment: {
      merchant_id: string;
      payment_id: string;
      store_id: string;
      session_id: string | null;
      invoice_id: string | null;
      customer: string | null;
      /** The merchant's reference of the session. */
      order_id: string | null;
      amount: bigint;
      /** Earlier prices, each with the time until which it applied, oldest first. */
      earlier_amounts: Json<{ amount: string; until: number }[]>;
      currency: string;
      status: PaymentStatus;
      /** The option at whose address the first money came: from then on the payment is paid in it. */
      fixed_currency: Asset | null;
      fixed_network: Network | null;
      /** The option that the payer has chosen last. */
      chosen_currency: Asset | null;
      chosen_network: Network | null;
      received_amount: Generated<bigint>;
      refunded_amount: Generated<bigint>;
      refunding_amount: Generated<bigint>;
      /** Received, and not the merchant's to use yet: the payment is not completed. */
      held_amount: Generated<bigint>;
      /** Why a charge failed. */
      decline_code: string | null;
      /** The payer's proven wallet, on the network of the fixed option. */
      wallet_address: string | null;
      /** As the last change found them, for the list's filter. */
      exceptions: Json<PaymentException[]>;
      metadata: Generated<Metadata>;
      expires_at: Int8 | null;
      canceled_at: Int8 | null;
      /** Another payment has paid its invoice, or the invoice is void. */
      closed_at: Int8 | null;
      completed_at: Int8 | null;
      created_at: Int8;
      /** To whom receipt and refunds are mailed. */
      payer_email: string | null;
      /** In which the payer last read the page. */
      payer_language: string | null;
    };
    payment_option: {
      merchant_id: string;
      payment_id: string;
      currency: Asset;
      network: Network;
      address: string;
      /** The address as scans look for it. Null: a charge, which is pulled into the hot wallet. */
      watch: string | null;
      exchange_rate: string;
      pay_amount: bigint;
      /** Null: the option is older than this column. */
      quoted_at: Int8 | null;
      quote_ends_at: Int8;
      /** Other quotes of the last day, oldest first: money sent in their time may be seen later. */
      earlier_quotes: Json<{ exchange_rate: string; quoted_at: number | null; quote_ends_at: number }[]>;
      chosen_at: Int8;
    };
    deposit_address: {
      merchant_id: string;
      network: Network;
      watch: string;
      payment_id: string;
      currency: Asset;
      address_index: bigint;
    };
    deposit_owner: { network: Network; watch: string; merchant_id: string; address_index: bigint };
    deposit_cursor: {
      merchant_id: string;
      network: Network;
      next_address_index: Generated<bigint>;
      /** After the last final block whose transfers are credited. */
      cursor: string | null;
      /** When the network was last scanned up to its newest block; payments expire by it. */
      read_at: Generated<Int8>;
      /** When the last address was given out or the last transfer changed; the scan interval follows from it. */
      news_at: Generated<Int8>;
      /** The newest scanned block. */
      height: Generated<Int8>;
    };
    early_credit: { merchant_id: string; store_id: string; hour: bigint; amount: bigint };
    payment_transaction: {
      merchant_id: string;
      network: Network;
      tx_id: string;
      index: number;
      payment_id: string;
      currency: Asset | null;
      address: string;
      sender: string;
      amount: bigint;
      kind: PaymentTransactionKind;
      status: PaymentTransactionStatus;
      /** Pulled by a charge into the hot wallet. */
      pulled: Generated<boolean>;
      decision: 'accepted' | 'released' | 'kept' | null;
      held_amount: Generated<bigint>;
      refunded_amount: Generated<bigint>;
      refunding_amount: Generated<bigint>;
      /** The newest sweep with a part of it; `swept_amount` sums all sweeps. */
      sweep_id: ColumnType<string | null, string | null | undefined, string | null>;
      swept_amount: Generated<bigint>;
      height: Int8;
      required_confirmations: Generated<number>;
      /** Credited before its block was final. */
      is_early: Generated<boolean>;
      seen_at: Int8;
      final_at: Int8 | null;
      /** When a reorganisation took a credited transfer; the operator bears the loss. Null again once it is mined again. */
      lost_at: ColumnType<Int8 | null, Int8 | null | undefined, Int8 | null>;
    };
  }
}
