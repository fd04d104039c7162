import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import type { PaymentRow } from '../reads/queries.ts';

/** Changes of a payment's or transfer's refund columns, each a difference. */
export interface RefundMove {
  /** Refunds under way. */
  refunding: bigint;
  /** Refunds that succeeded. */
  refunded: bigint;
  /** The held amount. */
  held: bigint;
}

/** The chain's identity of a transfer. */
export interface TransferKey {
  network: Network;
  txId: string;
  index: number;
}

/**
 * Applies a refund's amounts to one `wrong_token` transfer, or to the payment itself (`transfer` null). The caller holds
 * the payment's lock; check constraints keep the sums within the received amount.
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
