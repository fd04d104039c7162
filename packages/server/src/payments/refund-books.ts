import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Tx } from '../platform/db/index.ts';
import type { PaymentRow } from './queries.ts';

/** By how much a refund changes what is noted of the money that it takes from. */
export interface RefundMove {
  /** Refunds under way. */
  refunding: bigint;
  /** Refunds that succeeded. */
  refunded: bigint;
  /** What lies in `held`. */
  held: bigint;
}

/** One transfer of a payment, as the chain names it. */
export interface TransferKey {
  network: Network;
  txId: string;
  index: number;
}

/**
 * Notes what a refund takes or gives back: of one `wrong_token` transfer, or of the payment's own money (`transfer`
 * null). The caller holds the payment's lock; the tables' own checks keep the sums within what was received.
 */
export async function moveRefundable(
  tx: Tx,
  payment: Pick<PaymentRow, 'merchant_id' | 'payment_id'>,
  transfer: TransferKey | null,
  { refunding, refunded, held }: RefundMove,
): Promise<void> {
  const { merchant_id: merchantId, payment_id: paymentId } = payment;
  if (transfer === null) {
    await sql`
      update payment set refunding_amount = refunding_amount + ${refunding},
        refunded_amount = refunded_amount + ${refunded}, held_amount = held_amount + ${held}
      where merchant_id = ${merchantId} and payment_id = ${paymentId}`.execute(tx);
    return;
  }
  const { network, txId, index } = transfer;
  await sql`
    update payment_transaction set refunding_amount = refunding_amount + ${refunding},
      refunded_amount = refunded_amount + ${refunded}, held_amount = held_amount + ${held}
    where merchant_id = ${merchantId} and network = ${network} and tx_id = ${txId} and index = ${index}`.execute(
    tx,
  );
}
