import type { Asset, Network } from '@florin/contract/money';
import type { Metadata, PaymentMethodStatus } from '@florin/contract/schemas';
import type { Generated } from 'kysely';
import type { MandatePeriod } from '../chains/port/index.ts';

type Int8 = bigint | number;

declare module '../platform/db/db.ts' {
  interface Tables {
    payment_method: {
      merchant_id: string;
      payment_method_id: string;
      store_id: string;
      customer_id: string;
      currency: Asset;
      network: Network;
      wallet_address: string;
      recipient: string;
      mandate_id: string;
      salt: string;
      cap_amount: bigint;
      /** Most that it may be charged for; null: the network does not count them. */
      subscriptions: number | null;
      interval: MandatePeriod;
      starts_at: Int8;
      ends_at: Int8 | null;
      status: PaymentMethodStatus;
      balance: bigint;
      allowance: bigint;
      read_at: Int8;
      next_read_at: Int8 | null;
      /** Since when it is `elsewhere` (states.ts); null: it is not. */
      elsewhere_since: Int8 | null;
      metadata: Generated<Metadata>;
      created_at: Int8;
      /** When its mandate was in a final block; null while it is on its way there. */
      activated_at: Int8 | null;
    };
  }
}
