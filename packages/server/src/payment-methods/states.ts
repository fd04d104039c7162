import type { PaymentMethodStatus } from '@florin/contract/schemas';
import type { ChargeFault, MandateState } from '../chains/index.ts';
import { Moves } from '../platform/db/index.ts';

// active ⇄ inactive as its wallet and its term can pay what is due next or not; active, inactive ⇄ unknown while the
// network cannot be read; any → revoked, by the payer on the network or by the merchant's call, which is final.
// Invariant: `status` is what the last reading, the need known then and that call make of it; only `active` is charged.

/** Every allowed move, and no other. */
export const METHOD_MOVES = new Moves<PaymentMethodStatus>('a payment method', {
  active: ['inactive', 'unknown', 'revoked'],
  inactive: ['active', 'unknown', 'revoked'],
  unknown: ['active', 'inactive', 'revoked'],
  revoked: [],
});

/** What the chain shows of a mandate; `unavailable`: nobody knows. */
export type MandateReading = 'unavailable' | ShownMandate;

export interface ShownMandate {
  /** What the wallet holds, and what of it may still be pulled; both are shared by all mandates of the wallet. */
  balance: bigint;
  allowance: bigint;
  isRevoked: boolean;
  isEnded: boolean;
}

/** Why a charge is not even sent; `network_unavailable` is no fault of the payer's and counts as no try. */
export type DeclineCode = ChargeFault | 'network_unavailable';

/** @param now the merchant's clock, Unix seconds */
export function readingOf(
  { state, balance, allowance }: MandateState,
  { endsAt }: { endsAt: number | null },
  now: number,
): ShownMandate {
  return {
    balance,
    // A mandate that is on the chain no more allows nothing, whatever its wallet allows others of it.
    allowance: state === 'missing' ? 0n : allowance,
    isRevoked: state === 'revoked',
    isEnded: endsAt !== null && now >= endsAt,
  };
}

/** Why a charge of that amount would fail; undefined where nothing speaks against it. */
export function declineCode(reading: MandateReading, amount: bigint): DeclineCode | undefined {
  if (reading === 'unavailable') return 'network_unavailable';
  if (reading.isRevoked) return 'mandate_revoked';
  if (reading.isEnded || reading.allowance < amount) return 'insufficient_allowance';
  return reading.balance < amount ? 'insufficient_balance' : undefined;
}

/**
 * Whether a charge has to wait for those of the same wallet that are on their way: with them the wallet cannot pay it,
 * and until they are final nobody knows what is left.
 */
export function mustWait(reading: MandateReading, amount: bigint, onTheirWay: bigint): boolean {
  if (onTheirWay === 0n || declineCode(reading, amount) !== undefined) return false;
  return declineCode(reading, amount + onTheirWay) !== undefined;
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

/** Whether a reading that lets a charge go says what is stored already. */
export function isAsStored(
  stored: { status: PaymentMethodStatus; balance: bigint; allowance: bigint },
  reading: MandateReading,
  amount: bigint,
): boolean {
  if (reading === 'unavailable' || declineCode(reading, amount) !== undefined) return false;
  const { balance, allowance } = reading;
  return stored.status === 'active' && stored.balance === balance && stored.allowance === allowance;
}

/** Readings of a day or an hour come together in so many parts of it, rather than each at a second of its own. */
const READING_SLOTS = 24;

/** When a method is read again: up to a slot sooner than asked, with all others of that slot. */
export function nextReading(now: number, everySeconds: number): number {
  const slot = Math.max(1, Math.floor(everySeconds / READING_SLOTS));
  return Math.max(now + 1, Math.floor((now + everySeconds) / slot) * slot);
}

/** Whether whoever bills should look again: money or allowance came back, or it is otherwise than before. */
export function isNews(
  before: { status: PaymentMethodStatus; balance: bigint; allowance: bigint },
  after: { status: PaymentMethodStatus; balance: bigint; allowance: bigint },
): boolean {
  return (
    before.status !== after.status || after.balance > before.balance || after.allowance > before.allowance
  );
}
