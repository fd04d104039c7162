import type { Asset, Network } from '@florin/contract/money';
import type { PaymentStatus, RefundStatus } from '@florin/contract/schemas';
import { Moves } from '../platform/db/index.ts';

// A refund: pending → processing → succeeded | failed; pending → canceled | failed (its address is listed by then).
// Above a limit it waits in `pending` until it is approved, from when its address is known.
// It takes its money into `refund_hold` when it is made and its coins into `custody_hold` when it is sent; success
// takes both away, any other end gives both back.
// Invariant: of what was received, refunds that succeeded and refunds under way together never take more than all. Each
// change holds the lock of the payment, so that of refunds made at once each sees the ones before it.
// One that succeeded and that a deep reorganisation took for good (`lost_at`) fails where two people give its money back
// (`decide-lost.ts`); no other way leads out of an end.
// A crash between two steps leaves the refund in the state of the last commit; the job of that state goes on with it.

/** Every allowed move, and no other. */
export const REFUND_MOVES = new Moves<RefundStatus>('a refund', {
  pending: ['processing', 'canceled', 'failed'],
  processing: ['succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
  canceled: [],
});

/** What approval depends on. */
export interface ApprovalFacts {
  status: RefundStatus;
  /** Null while the payer has not named it: nobody can approve what has no address. */
  address: string | null;
  required_approvals: number;
  approved_at: bigint | number | null;
}

export const awaitsApproval = (refund: ApprovalFacts) =>
  refund.status === 'pending' &&
  refund.address !== null &&
  refund.required_approvals > 0 &&
  refund.approved_at === null;

/** Whether nothing but its delay, and coins on its network, keeps a refund from being sent. */
export const maySend = (refund: ApprovalFacts) =>
  refund.status === 'pending' && refund.address !== null && !awaitsApproval(refund);

export type RefundVerdict = 'approved' | 'rejected';

/** What an approver's word does; one rejection outweighs all approvals. */
export function afterVerdict(
  verdict: RefundVerdict,
  { agreed, required }: { agreed: number; required: number },
): 'approved' | 'canceled' | 'waits' {
  if (verdict === 'rejected') return 'canceled';
  return agreed >= required ? 'approved' : 'waits';
}

/** What is left of a refund's delay, which runs from when its address was known. */
export const delayLeft = (delaySeconds: number, passedSeconds: number) =>
  Math.max(0, delaySeconds - Math.max(0, passedSeconds));

/** Where the merchant's money of a payment lies. */
export type MoneyPlace = 'available' | 'held';

/** What a refund may take from: the payment's own money, or one `wrong_token` transfer. */
export interface Pot {
  currency: Asset;
  network: Network;
  /** What no other refund has taken. */
  left: bigint;
  place: MoneyPlace;
}

/** The payment's own money, in numbers. */
export interface OwnMoney {
  status: PaymentStatus;
  /** The option that its money has fixed; null while there is none. */
  currency: Asset | null;
  network: Network | null;
  received: bigint;
  refunded: bigint;
  refunding: bigint;
}

const REFUNDABLE: ReadonlySet<PaymentStatus> = new Set(['completed', 'expired', 'cancelled']);

/** Available once the payment is completed, else held: also where money goes that comes back. */
export function placeOf(status: PaymentStatus, isTransfer: boolean): MoneyPlace {
  return status === 'completed' && !isTransfer ? 'available' : 'held';
}

/** The pot of a payment; undefined where it is in no status to be refunded, or has received nothing. */
export function potOf(money: OwnMoney): Pot | undefined {
  const { status, currency, network, received, refunded, refunding } = money;
  if (!REFUNDABLE.has(status) || received === 0n || currency === null || network === null) return undefined;
  return { currency, network, left: received - refunded - refunding, place: placeOf(status, false) };
}

export type Amount =
  | { amount: bigint }
  /** `currency`: the money came in another one. `amount`: that much is not left. */
  | { refused: 'currency' | 'amount' };

/** How much a refund takes from a pot: all that is left, unless the request says less. */
export function amountOf(
  pot: Pick<Pot, 'currency' | 'left'>,
  asked: { amount: bigint | undefined; currency: Asset | undefined },
): Amount {
  if (asked.currency !== undefined && asked.currency !== pot.currency) return { refused: 'currency' };
  const amount = asked.amount ?? pot.left;
  return amount > 0n && amount <= pot.left ? { amount } : { refused: 'amount' };
}

/** How a refund is over. */
export type End = 'succeeded' | 'failed' | 'canceled';

/** What an end changes in the numbers of the pot. */
export function endMove(end: End, amount: bigint, place: MoneyPlace) {
  const isPaid = end === 'succeeded';
  return {
    refunding: -amount,
    refunded: isPaid ? amount : 0n,
    held: !isPaid && place === 'held' ? amount : 0n,
  };
}

/** What a refund that succeeded and was lost changes as its money is given back. */
export function takenBackMove(amount: bigint, place: MoneyPlace) {
  return { refunding: 0n, refunded: -amount, held: place === 'held' ? amount : 0n };
}
