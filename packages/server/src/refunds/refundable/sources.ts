import type { TransferKey } from '../../payments/books/index.ts';
import { findHeldTransfer, listHeldTransfers } from '../../payments/deposits/index.ts';
import type { PaymentView } from '../../payments/reads/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { invalidParam } from '../../platform/fail.ts';
import { checkRecipient } from '../../transfers/recipients/index.ts';
import { provenWallet } from '../check-address.ts';
import { mostToReturn } from '../proven-wallet.ts';
import { listReturned } from '../queries.ts';
import { balanceOf, type RefundSource, refundSourceOf } from '../states.ts';

/** Money that a refund may take. */
export interface Refundable {
  source: RefundSource;
  /** The transfer that is refunded; null: the payment's own money. */
  transfer: TransferKey | null;
}

type Held = ReturnType<typeof findHeldTransfer>;

function ownMoney({ payment }: PaymentView): Refundable | undefined {
  const source = refundSourceOf({
    status: payment.status,
    currency: payment.fixed_currency,
    network: payment.fixed_network,
    received: payment.received_amount,
    refunded: payment.refunded_amount,
    refunding: payment.refunding_amount,
  });
  return source && { source, transfer: null };
}

function heldMoney({ payment }: PaymentView, held: Held): Refundable | undefined {
  const { currency, network, held_amount: left } = held;
  if (currency === null || left === 0n) return undefined;
  const source = { currency, network, left, balance: balanceOf(payment.status, true) };
  return { source, transfer: { network, txId: held.tx_id, index: held.index } };
}

/** Finds the money that a request refunds from. @throws Fail */
export function sourceOf(view: PaymentView, txId: string | undefined): Refundable {
  if (txId === undefined) {
    const own = ownMoney(view);
    if (own !== undefined) return own;
    const { status, received_amount: received } = view.payment;
    const message = `Nothing of this payment can be refunded: it is ${status} and has received ${received}.`;
    throw invalidParam('payment_id', message);
  }
  const held = heldMoney(view, findHeldTransfer(view, txId));
  if (held === undefined) throw invalidParam('tx_id', 'Nothing of this transfer is left to refund.');
  return held;
}

/** All money of a payment of which something is left to refund: its own first, then each transfer that is refunded by itself. */
export function sourcesOf(view: PaymentView): Refundable[] {
  return [ownMoney(view), ...listHeldTransfers(view).map((held) => heldMoney(view, held))].flatMap((one) =>
    one !== undefined && one.source.left > 0n ? [one] : [],
  );
}

/** The payment's proven wallet, and how much of the money goes to it where no address is named; null: it sent none of it. */
export async function provenShare(
  db: Db,
  view: PaymentView,
  { source: { network }, transfer }: Refundable,
): Promise<{ wallet: string; most: bigint } | null> {
  const wallet = provenWallet(network, view.payment.wallet_address);
  if (wallet === null) return null;
  const sent = view.transactions.filter((t) => isPartOf(t, transfer) && t.lost_at === null);
  const refunds = await listReturned(db, view.payment, transfer);
  const returned = refunds.map((refund) => ({
    ...refund,
    address: checkRecipient(network, refund.address, { allowProgramOwned: true }).canonical,
  }));
  const most = mostToReturn(wallet, { sent, returned });
  return most > 0n ? { wallet, most } : null;
}

/** Whether a transaction is part of the refunded money: that transfer, or the payment's own money (null). */
function isPartOf(t: PaymentView['transactions'][number], transfer: TransferKey | null): boolean {
  if (t.status !== 'final') return false;
  if (transfer === null) return t.kind === 'counted';
  return t.network === transfer.network && t.tx_id === transfer.txId && t.index === transfer.index;
}
