import type { Asset, Network } from '@florin/contract/money';
import type { PaymentStatus, RefundStatus } from '@florin/contract/schemas';
import { Moves } from '../platform/db/guards/index.ts';

// A refund: pending → processing → succeeded | failed; pending → canceled | failed (its address was sanctioned meanwhile).
// Above a limit it stays `pending` until it is approved; approval needs its address.
// Its money is reserved in `refund_hold` when it is created, its coins in `custody_hold` when it is sent. Success books both
// out, any other end releases both.
// Invariant: succeeded refunds and refunds under way never exceed the received money. Each change holds the lock of the
// payment, which serializes concurrent refunds.
// A succeeded refund that a deep reorganisation removed for good (`lost_at`) becomes `failed` if two people return its money
// to the merchant (`decide-lost.ts`). Every other end is final.
// A crash between two steps leaves the refund in its last committed state; the job of that state continues.

/** All allowed moves. */
export const REFUND_MOVES = new Moves<RefundStatus>('a refund', {
  pending: ['processing', 'canceled', 'failed'],
  processing: ['succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
  canceled: [],
});

/** The columns that decide approval. */
export interface ApprovalFacts {
  status: RefundStatus;
  /** Null until the payer names it; a refund without an address cannot be approved. */
  address: string | null;
  required_approvals: number;
  approved_at: bigint | number | null;
}

export const awaitsApproval = (refund: ApprovalFacts) =>
  refund.status === 'pending' &&
  refund.address !== null &&
  refund.required_approvals > 0 &&
  refund.approved_at === null;

/** Whether a refund may be sent once its delay is over and its network holds enough coins. */
export const maySend = (refund: ApprovalFacts) =>
  refund.status === 'pending' && refund.address !== null && !awaitsApproval(refund);

export type RefundVerdict = 'approved' | 'rejected';

/** The effect of a verdict: one rejection outweighs all approvals. */
export function afterVerdict(verdict: RefundVerdict, isEnough: boolean): 'approved' | 'canceled' | 'waits' {
  if (verdict === 'rejected') return 'canceled';
  return isEnough ? 'approved' : 'waits';
}

/** The remaining delay of a refund, which starts when its address is known. */
export const delayLeft = (delaySeconds: number, passedSeconds: number) =>
  Math.max(0, delaySeconds - Math.max(0, passedSeconds));

/** The balance that holds a payment's money. */
export type MerchantBalance = 'available' | 'held';

/** The money that a refund draws on: the payment's own, or one `wrong_token` transfer. */
export interface RefundSource {
  currency: Asset;
  network: Network;
  /** The amount that no other refund has reserved. */
  left: bigint;
  balance: MerchantBalance;
}

/** The amounts of the payment's own money. */
export interface OwnMoney {
  status: PaymentStatus;
  /** Of the fixed option; null while none is fixed. */
  currency: Asset | null;
  network: Network | null;
  received: bigint;
  refunded: bigint;
  refunding: bigint;
}

const REFUNDABLE: ReadonlySet<PaymentStatus> = new Set(['completed', 'expired', 'cancelled']);

/** `available` once the payment is completed, else `held`; released refunds return to it. */
export function balanceOf(status: PaymentStatus, isTransfer: boolean): MerchantBalance {
  return status === 'completed' && !isTransfer ? 'available' : 'held';
}

/** The payment's own money as a source; undefined if its status allows no refund, or it has received nothing. */
export function refundSourceOf(money: OwnMoney): RefundSource | undefined {
  const { status, currency, network, received, refunded, refunding } = money;
  if (!REFUNDABLE.has(status) || received === 0n || currency === null || network === null) return undefined;
  return { currency, network, left: received - refunded - refunding, balance: balanceOf(status, false) };
}

export type Amount =
  | { amount: bigint }
  /** `currency`: the payment was made in another one. `amount`: not enough is left. */
  | { refused: 'currency' | 'amount' };

/** The amount of a refund: the requested one, else all that is left. */
export function refundAmount(
  source: Pick<RefundSource, 'currency' | 'left'>,
  requested: { amount: bigint | undefined; currency: Asset | undefined },
): Amount {
  if (requested.currency !== undefined && requested.currency !== source.currency)
    return { refused: 'currency' };
  const amount = requested.amount ?? source.left;
  return amount > 0n && amount <= source.left ? { amount } : { refused: 'amount' };
}

/** Final statuses. */
export type End = 'succeeded' | 'failed' | 'canceled';

/** The changes of the source's amounts when a refund ends. */
export function endedAmounts(end: End, amount: bigint, balance: MerchantBalance) {
  const isPaid = end === 'succeeded';
  return {
    refunding: -amount,
    refunded: isPaid ? amount : 0n,
    held: !isPaid && balance === 'held' ? amount : 0n,
  };
}

/** The changes of the source's amounts when a lost refund is returned to the merchant. */
export function lostAmounts(amount: bigint, balance: MerchantBalance) {
  return { refunding: 0n, refunded: -amount, held: balance === 'held' ? amount : 0n };
}
