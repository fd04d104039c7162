/** Shapes of the API as the SDK hands them on: field names, units and Unix seconds exactly as on the wire. */

import type { ItemFailureCode, ItemFindingCode } from '@florin/contract/errors';
import type { Asset, Network } from '@florin/contract/money';

export type { Asset, Network };

/** One page of a list; `has_more` tells whether a further item exists behind it. */
export interface Page<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

export interface PageQuery {
  /** 1 to 100. */
  limit?: number;
  /** Id of the last item of the page before. */
  starting_after?: string;
}

/** A bigint counts base units (6 digits: `1_500_000n` is 1.50), a string is a decimal number of tokens (`"1.50"`). */
export type Amount = bigint | string;

export type PayoutBatchStatus =
  | 'draft'
  | 'needs_fix'
  | 'pending'
  | 'pending_approval'
  | 'processing'
  | 'partially_completed'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected';

export type PayoutItemStatus =
  | 'valid'
  | 'invalid'
  | 'queued'
  | 'processing'
  | 'succeeded'
  | 'failed'
  | 'canceled';

export interface PayoutItemInput {
  real_name?: string;
  network: Network;
  address: string;
  memo?: string;
  /** Whole cents, greater than 0. */
  amount: Amount;
}

export interface PayoutBatchInput {
  currency: Asset;
  description?: string;
  /** 1 to 200; the first fixes the network of the batch. */
  items: readonly PayoutItemInput[];
}

export interface ValidationError {
  field: string;
  code: ItemFindingCode;
  message: string;
}

/** Sums are decimal strings with two decimals, times Unix seconds. */
export interface PayoutBatch {
  batch_id: string;
  status: PayoutBatchStatus;
  currency: Asset;
  network: Network;
  total_count: number;
  valid_count: number;
  invalid_count: number;
  success_count: number;
  failed_count: number;
  total_amount: string;
  service_fee_amount: string;
  debit_amount: string;
  frozen_amount: string;
  charged_service_fee_amount: string;
  /** Absent when the batch is canceled. */
  can_submit?: boolean;
  validation_errors: ValidationError[];
  description: string | null;
  created_at: number;
  submitted_at: number | null;
  completed_at: number | null;
}

export interface PayoutItem {
  item_id: string;
  batch_id: string;
  index: number;
  real_name: string | null;
  network: Network;
  address: string;
  memo: string | null;
  amount: string;
  service_fee_amount: string;
  status: PayoutItemStatus;
  validation_errors: ValidationError[];
  tx_id: string | null;
  failure_code: ItemFailureCode | null;
  failure_message: string | null;
  created_at: number;
  completed_at: number | null;
}

export interface PayoutBatchQuery extends PageQuery {
  status?: PayoutBatchStatus;
  currency?: Asset;
  idempotency_key?: string;
}

export interface PayoutItemQuery extends PageQuery {
  status?: PayoutItemStatus;
}

/** Integers in base units (6 digits). */
export interface Balance {
  currency: Asset;
  available: number;
  held: number;
  payout_hold: number;
  refund_hold: number;
  seized: number;
  fees: number;
  network_cost: number;
  custody: Record<Network, number>;
  custody_hold: Record<Network, number>;
}

export interface Balances {
  object: 'balances';
  data: Balance[];
}

/** One transfer of value, `amount` in base units (6 digits). */
export interface LedgerEntry {
  id: string;
  object: 'ledger_entry';
  journal_id: string;
  debit: string;
  credit: string;
  currency: Asset;
  network: Network | null;
  amount: number;
  cause: { type: string; id: string };
  created: number;
}

export interface LedgerEntryQuery extends PageQuery {
  currency?: Asset;
  account?: string;
  /** Id of the resource that caused the entries. */
  cause?: string;
}

export interface FundInput {
  currency: Asset;
  network: Network;
  amount: Amount;
}

/** Valid payout addresses of the simulated network, named after what becomes of a transfer to them. */
export interface TestAddressSet {
  succeed: string;
  fail: string;
  stuck: string;
  risk_rejected: string;
}

export type TestAddresses = Record<Network, TestAddressSet>;

/** A transfer that the simulated chain holds; `currency` is null for a token that is not listed. */
export interface SimulatedTransfer {
  id: string;
  object: 'simulated_transfer';
  tx_id: string;
  index: number;
  currency: Asset | null;
  from: string;
  to: string;
  amount: number;
  height: number;
  final: boolean;
}

/** What a webhook carries. `sequence` rises by 1 with each event of the resource: drop what is older than seen. */
export interface WebhookEvent {
  id: string;
  object: 'event';
  type: string;
  api_version: string;
  created: number;
  store_id: string;
  livemode: boolean;
  sequence: number;
  data: {
    object: Record<string, unknown>;
    /** Old values of the fields that changed; null when the change made the resource. */
    previous_attributes: Record<string, unknown> | null;
  };
}

export interface CreateOptions {
  /** 1 to 128 printable ASCII characters; a UUID is made when it is left out. Keep it to repeat after a crash. */
  idempotencyKey?: string;
}
