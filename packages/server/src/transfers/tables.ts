import type { Asset, Network } from '@florin/contract/money';
import type { ColumnType, Generated } from 'kysely';
import type { KeyRef, RotatedKeyRef } from '../chains/port/index.ts';
import type { ActivationFault } from './attempts/charge-readiness.ts';
import type { StoredCharge, StoredMandate, StoredPermit } from './charges/charges.ts';
import type { ActivationStatus, AttemptStatus, RotationStatus, TransferStatus } from './states.ts';

/** A movement of the service itself as it is stored; amounts are decimal digits. */
export type StoredMovement =
  | { kind: 'gas'; amount: string; to?: 'owner' | RotatedKeyRef }
  | { kind: 'move'; asset: Asset | null; amount: string }
  | { kind: 'approve'; asset: Asset; amount: string }
  | { kind: 'deploy'; contract: 'batch_payout' | 'collector' | 'sweeper' | 'sweep_delegate' }
  | { kind: 'account' }
  | { kind: 'activate'; mandate: StoredMandate; signature: string; permit?: StoredPermit };

declare module '../platform/db/db.ts' {
  interface Tables {
    transfer: {
      merchant_id: string;
      transfer_id: string;
      owner_type: string;
      owner_id: string;
      group_id: string;
      place: number;
      network: Network;
      currency: Asset;
      key_ref: ColumnType<KeyRef, KeyRef | undefined, KeyRef>;
      address: string;
      amount: bigint;
      memo: string | null;
      charge: StoredCharge | null;
      status: TransferStatus;
      tries: Generated<number>;
      alone: Generated<boolean>;
      attempt_id: string | null;
      tx_id: string | null;
      failure_code: string | null;
      failure_message: string | null;
      created_at: bigint | number;
      completed_at: bigint | number | null;
      lost_at: bigint | number | null;
    };
    transfer_attempt: {
      merchant_id: string;
      attempt_id: string;
      group_id: string;
      network: Network;
      currency: Asset;
      key_ref: ColumnType<KeyRef, KeyRef | undefined, KeyRef>;
      sender: string;
      sequence: bigint | null;
      ordinal: bigint | null;
      previous_id: string | null;
      status: AttemptStatus;
      tx_id: string | null;
      raw: string | null;
      item_ids: string[];
      valid_until_height: bigint | null;
      valid_until_ms: bigint | null;
      versions: Generated<number>;
      fee_limit: string | null;
      fee_native: string | null;
      fee_usd: string | null;
      movement: ColumnType<StoredMovement | null, string | undefined, never>;
      sent_at: bigint | number | null;
      detail: string | null;
      height: bigint | null;
      gone_at: bigint | number | null;
      gap_tx_id: string | null;
      gap_raw: string | null;
      gap_id: string | null;
      gap_ordinal: bigint | null;
      gap_previous_id: string | null;
      stray_ids: Generated<string[]>;
      differs: Generated<boolean>;
      created_at: bigint | number;
      completed_at: bigint | number | null;
    };
    network_stop: {
      merchant_id: string;
      network: Network;
      what: Generated<'sending' | 'early_credit'>;
      reason: string;
      stopped_at: bigint | number;
    };
    transfer_version: {
      merchant_id: string;
      attempt_id: string;
      number: number;
      network: Network;
      tx_id: string;
      raw: string;
      fee_limit: string | null;
      signed_at: bigint | number;
    };
    transfer_hold: {
      merchant_id: string;
      group_id: string;
      reason: string;
      held_at: bigint | number;
      until: bigint | number;
    };
    signed_approval: {
      merchant_id: string;
      kind: 'payout' | 'refund';
      owner_id: string;
      approver: string;
      statement_digest: Buffer;
      valid_until: bigint | number;
      signature: string;
      created_at: bigint | number;
    };
    final_block: {
      merchant_id: string;
      network: Network;
      height: bigint;
      hash: string;
      replaced_at: bigint | number | null;
    };
    mandate_activation: {
      merchant_id: string;
      activation_id: string;
      network: Network;
      currency: Asset;
      mandate_id: string;
      mandate: ColumnType<StoredMandate, string, never>;
      signature: string;
      permit: ColumnType<StoredPermit | null, string | null, never>;
      unapproved_since: bigint | number | null;
      charge_passed: Generated<boolean>;
      status: ActivationStatus;
      fault: ActivationFault | null;
      created_at: bigint | number;
      completed_at: bigint | number | null;
    };
    wallet_rotation: {
      merchant_id: string;
      rotation_id: string;
      network: Network;
      epoch: number;
      status: RotationStatus;
      created_at: bigint | number;
      switched_at: bigint | number | null;
      completed_at: bigint | number | null;
    };
    wallet: {
      network: Network;
      sender: string;
      next_sequence: bigint;
      next_ordinal: bigint;
      first_ordinal: bigint;
      last_attempt_id: string | null;
    };
    gas_tank: { network: Network; sender: string; native: string; read_at: bigint | number };
    wallet_sequence: { network: Network; sender: string; sequence: bigint; attempt_id: string };
  }
}
