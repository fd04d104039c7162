import type { PayoutBatchStatus, PayoutItemStatus, ValidationError } from '@florin/contract/schemas';
import { Moves } from '../platform/db/guards/index.ts';
import { Fail } from '../platform/fail.ts';

// A batch: draft → (needs_fix ⇄ submit) → pending_approval → pending → processing → completed | partially_completed |
// failed. Until a worker takes it, it can be canceled; while it waits for approval it can be rejected.
// Invariant, from a successful submit on: debit = frozen + paid out + charged fees + released. Items cannot change
// after submit, so what was approved is what is sent.
// After a crash between two steps the batch has the state of the last commit, and the job of that state continues.

/** Every allowed move of a batch, and no other. */
export const BATCH_MOVES = new Moves<PayoutBatchStatus>('a payout batch', {
  draft: ['needs_fix', 'pending_approval', 'pending', 'canceled'],
  needs_fix: ['pending_approval', 'pending', 'canceled'],
  pending_approval: ['pending', 'rejected', 'canceled'],
  pending: ['processing', 'canceled'],
  processing: ['completed', 'partially_completed', 'failed'],
  completed: [],
  partially_completed: [],
  failed: [],
  canceled: [],
  rejected: [],
});

/** Every allowed move of an item. A succeeded item fails where it is lost and its money is given back. */
export const ITEM_MOVES = new Moves<PayoutItemStatus>('a payout item', {
  valid: ['invalid', 'queued', 'canceled'],
  invalid: ['valid', 'canceled'],
  queued: ['processing', 'canceled'],
  processing: ['succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
  canceled: [],
});

export const mayEdit = (status: PayoutBatchStatus) => status === 'draft' || status === 'needs_fix';
/** Whether money is reserved for the batch, which a cancel or reject releases. */
export const isReserved = (status: PayoutBatchStatus) =>
  status === 'pending' || status === 'pending_approval';

/** An item's amount, fee and validity. */
export interface Sized {
  amount: bigint;
  fee: bigint;
  errors: readonly ValidationError[];
}

export interface Totals {
  total: number;
  valid: number;
  invalid: number;
  /** Sum of all items, valid or not; limits apply to it. */
  requested: bigint;
  /** Sum of the valid items. */
  amount: bigint;
  fees: bigint;
  errors: ValidationError[];
}

/** Sums up items in their order. */
export function totalsOf(items: readonly Sized[]): Totals {
  const valid = items.filter((item) => item.errors.length === 0);
  const sum = (list: readonly Sized[], pick: (item: Sized) => bigint) =>
    list.reduce((s, item) => s + pick(item), 0n);
  return {
    total: items.length,
    valid: valid.length,
    invalid: items.length - valid.length,
    requested: sum(items, (item) => item.amount),
    amount: sum(valid, (item) => item.amount),
    fees: sum(valid, (item) => item.fee),
    errors: items.flatMap((item) => [...item.errors]),
  };
}

/** Checks minimum and maximum of a batch, on creation and on edits. @throws Fail */
export function checkLimits(
  requested: bigint,
  limits: { min: bigint; max: bigint; format(units: bigint): string },
): void {
  if (requested > limits.max) {
    const message = `The sum of the items is above the maximum of a batch (${limits.format(limits.max)}). Split the batch.`;
    throw new Fail('batch_amount_limit_exceeded', { message, param: 'items' });
  }
  if (requested < limits.min) {
    const message = `The sum of the items is below the minimum of a batch (${limits.format(limits.min)}).`;
    throw new Fail('batch_amount_too_low', { message, param: 'items' });
  }
}

export type SubmitDecision =
  | { to: 'pending' | 'pending_approval' }
  /** The findings are committed, and the caller gets an error. */
  | { to: 'needs_fix'; refusal: 'address_risk_rejected' | 'batch_cannot_submit' };

/** @throws Fail `batch_cannot_submit` in every state but draft and needs_fix */
export function checkMaySubmit(status: PayoutBatchStatus): void {
  if (mayEdit(status)) return;
  throw new Fail('batch_cannot_submit', `A batch that is ${status} cannot be submitted.`);
}

/**
 * Decides a submit, after every item was checked again.
 *
 * @param before the stored findings: an address that was sanctioned since has an error code of its own
 * @param needsApproval whether the sum of the batch needs approval
 */
export function decideSubmit(
  before: readonly ValidationError[],
  now: Totals,
  needsApproval: boolean,
): SubmitDecision {
  if (now.invalid > 0) {
    const known = new Set(before.filter((e) => e.code === 'address_risk').map((e) => e.field));
    const newlyListed = now.errors.some((e) => e.code === 'address_risk' && !known.has(e.field));
    return { to: 'needs_fix', refusal: newlyListed ? 'address_risk_rejected' : 'batch_cannot_submit' };
  }
  return { to: needsApproval ? 'pending_approval' : 'pending' };
}

/** The final status of a batch; undefined while an item is undecided. */
export function finalStatus(counts: {
  total: number;
  succeeded: number;
  failed: number;
}): 'completed' | 'partially_completed' | 'failed' | undefined {
  const { total, succeeded, failed } = counts;
  if (succeeded + failed < total) return undefined;
  if (succeeded === total) return 'completed';
  return succeeded === 0 ? 'failed' : 'partially_completed';
}
