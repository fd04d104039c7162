import type { PaymentMethodStatus } from '@florin/contract/schemas';
import type { MandateState, PayersFault } from '../chains/port/index.ts';
import { Moves } from '../platform/db/guards/index.ts';

// active ⇄ inactive: its wallet and its term can, or cannot, pay the next amount due; active, inactive ⇄ unknown while
// the network cannot be read; any → revoked, by the payer on the network or by the merchant's call. `revoked` is final.
// Invariant: `status` follows from the last reading, the amount due at that time and the revoke call; only `active`
// methods are charged.

/** All allowed moves. */
export const METHOD_MOVES = new Moves<PaymentMethodStatus>('a payment method', {
  active: ['inactive', 'unknown', 'revoked'],
  inactive: ['active', 'unknown', 'revoked'],
  unknown: ['active', 'inactive', 'revoked'],
  revoked: [],
});

/** A mandate's state on the chain; `unavailable`: the chain cannot be read. */
export type MandateReading = 'unavailable' | ShownMandate;

export interface ShownMandate {
  /** The wallet's balance and remaining allowance; all mandates of the wallet share both. */
  balance: bigint;
  allowance: bigint;
  isRevoked: boolean;
  isEnded: boolean;
}

/** `elsewhere`: what its payer has allowed is not what charges there now (isElsewhere). */
export type ChainReading = MandateReading | 'elsewhere';

/** Why a charge is not sent. `network_unavailable` is not the payer's fault and does not count as a try. */
export type DeclineCode = PayersFault | 'network_unavailable';

export interface ReadMandate {
  endsAt: number | null;
  /** What its wallet had when it was signed, until the mandate's activation has ended. */
  awaited?: { balance: bigint; allowance: bigint } | undefined;
}

/**
 * Whether a network that keeps mandates for good has none of what it had in a final block: then another collector was asked than the payer
 * allowed, which says nothing of the mandate. Another network says itself that nobody charges by it.
 */
export const isElsewhere = (
  { state, isUnserved }: MandateState,
  { awaited }: Pick<ReadMandate, 'awaited'>,
  { keepsMandates }: { keepsMandates: boolean },
): boolean => isUnserved === true || (keepsMandates && state === 'missing' && awaited === undefined);

/** So long an operator has to put a collector or delegate back before payers are asked for new mandates. */
export const ELSEWHERE_SECONDS = 3 * 86_400;

/**
 * A mandate that is elsewhere cannot be read at first. After that time it allows nothing, like one that is no more on the chain, and its
 * payer gets a page: what charges there was replaced for good.
 *
 * @param now the merchant's clock, Unix seconds
 */
export function judged(
  stored: { balance: bigint; elsewhere_since: bigint | number | null },
  reading: ChainReading,
  now: number,
): MandateReading {
  if (reading !== 'elsewhere') return reading;
  const { balance, elsewhere_since: since } = stored;
  if (since === null || now - Number(since) < ELSEWHERE_SECONDS) return 'unavailable';
  return { balance, allowance: 0n, isRevoked: false, isEnded: false };
}

/** @param now the merchant's clock, Unix seconds */
export function readingOf(
  { state, balance, allowance }: MandateState,
  { endsAt, awaited }: ReadMandate,
  now: number,
): ShownMandate {
  // Its approval may not be final either, or lost on the way, which its activation finds out. What the wallet has by now is
  // read before the charge is sent.
  const isAwaited = state !== 'revoked' && awaited !== undefined;
  const shown = isAwaited ? awaited : { balance, allowance };
  return {
    balance: shown.balance,
    // A mandate that is no longer on the chain allows nothing, even if its wallet still has an allowance for others.
    allowance: state === 'missing' && !isAwaited ? 0n : shown.allowance,
    isRevoked: state === 'revoked',
    isEnded: endsAt !== null && now >= endsAt,
  };
}

/** Why a charge of that amount would fail; undefined if it should succeed. */
export function declineCode(reading: MandateReading, amount: bigint): DeclineCode | undefined {
  if (reading === 'unavailable') return 'network_unavailable';
  if (reading.isRevoked) return 'mandate_revoked';
  if (reading.isEnded || reading.allowance < amount) return 'insufficient_allowance';
  return reading.balance < amount ? 'insufficient_balance' : undefined;
}

/** Why a charge of that amount by a mandate with that cap would fail; undefined if it should succeed. */
export function problemOf(
  reading: MandateReading,
  amount: bigint,
  cap: bigint,
): DeclineCode | 'above_cap' | undefined {
  return declineCode(reading, amount) ?? (amount > cap ? 'above_cap' : undefined);
}

/**
 * Whether a charge has to wait for pending charges of the same wallet: the wallet cannot pay them all, and what
 * remains is not known before they are final.
 */
export function mustWait(reading: MandateReading, amount: bigint, pendingCharges: bigint): boolean {
  if (pendingCharges === 0n || declineCode(reading, amount) !== undefined) return false;
  return declineCode(reading, amount + pendingCharges) !== undefined;
}

export function statusAfter(
  before: PaymentMethodStatus,
  reading: MandateReading,
  need: bigint,
): PaymentMethodStatus {
  if (before === 'revoked') return 'revoked';
  if (reading === 'unavailable') return 'unknown';
  if (reading.isRevoked) return 'revoked';
  return declineCode(reading, need) === undefined ? 'active' : 'inactive';
}

/** Whether a reading that allows a charge equals the stored one. */
export function isAsStored(
  stored: { status: PaymentMethodStatus; balance: bigint; allowance: bigint },
  reading: MandateReading,
  amount: bigint,
): boolean {
  if (reading === 'unavailable' || declineCode(reading, amount) !== undefined) return false;
  const { balance, allowance } = reading;
  return stored.status === 'active' && stored.balance === balance && stored.allowance === allowance;
}

/** The reading interval is divided into this many slots. All readings of a slot happen together. */
const READING_SLOTS = 24;

/** When a method is read again: with all others of its slot, up to one slot earlier than `everySeconds` from now. */
export function nextReading(now: number, everySeconds: number): number {
  const slot = Math.max(1, Math.floor(everySeconds / READING_SLOTS));
  return Math.max(now + 1, Math.floor((now + everySeconds) / slot) * slot);
}

/** Whether `subscriptions` should retry charges: money or allowance came back, or the status changed. */
export function needsFollowUp(
  before: { status: PaymentMethodStatus; balance: bigint; allowance: bigint },
  after: { status: PaymentMethodStatus; balance: bigint; allowance: bigint },
): boolean {
  return (
    before.status !== after.status || after.balance > before.balance || after.allowance > before.allowance
  );
}
