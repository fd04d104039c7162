import type { Asset, Network } from '@florin/contract/money';
import type { ColumnType, Generated } from 'kysely';
import type { DepositKeyRef, KeyRef, RotatedKeyRef } from '../chains/port/index.ts';
import type { ActivationFault } from './attempts/charge-readiness.ts';
import type { StoredCharge, StoredMandate, StoredPermit } from './charges/charges.ts';
import type { ActivationStatus, AttemptStatus, RotationStatus, TransferStatus } from './states.ts';

/** A movement of the service itself as it is stored; amounts are decimal digits. */
export type StoredMovement =
  | { kind: 'gas'; amount: string; to?: 'owner' | RotatedKeyRef | DepositKeyRef }
  | { kind: 'lend' | 'unlend'; staked: string; to: DepositKeyRef }
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
      /** The kind of record that ordered it, such as `payout_item`; the job `<owner_type>.decided` reports its outcome. */
      owner_type: string;
      owner_id: string;
      /** The transfers of one batch, refund, sweep or charge have one group: its id. */
      group_id: string;
      /** Its number in the group, from 0: the same in every attempt, and of an order that repeats a lost one. */
      place: number;
      network: Network;
      currency: Asset;
      /** The wallet of ours that it leaves from: `hot`, `hot:EPOCH`, `deposit:NUMBER`, or `tank` (`chains/port/key-refs.ts`). */
      key_ref: ColumnType<KeyRef, KeyRef | undefined, KeyRef>;
      /** The recipient; of a charge the payer's wallet, from which it pulls. */
      address: string;
      amount: bigint;
      memo: string | null;
      charge: StoredCharge | null;
      status: TransferStatus;
      /** How many attempts have carried it. */
      tries: Generated<number>;
      /** It gets a transaction of its own: an attempt that carried several failed as a whole, for one of them. */
      alone: Generated<boolean>;
      /** The attempt that carries it; null unless `sending`. */
      attempt_id: string | null;
      /** The transaction that has decided it. */
      tx_id: string | null;
      failure_code: string | null;
      failure_message: string | null;
      created_at: bigint | number;
      completed_at: bigint | number | null;
      /** When it was found that its payment is in no block any more; null again once it is found, or paid by another. */
      lost_at: bigint | number | null;
    };
    transfer_attempt: {
      merchant_id: string;
      attempt_id: string;
      group_id: string;
      network: Network;
      currency: Asset;
      key_ref: ColumnType<KeyRef, KeyRef | undefined, KeyRef>;
      /** The address of the wallet that sends it. */
      sender: string;
      /** On Ethereum the nonce; null on networks without one, and where the attempt was abandoned: a fill has it then. */
      sequence: bigint | null;
      /** Its number among the attempts of its wallet. The holder compares it, and the attempt before. */
      ordinal: bigint | null;
      previous_id: string | null;
      status: AttemptStatus;
      /** Of the newest version; once decided, of the version that was mined. */
      tx_id: string | null;
      /** The signed bytes of that version, as text. */
      raw: string | null;
      /**
       * Ids of the transfers that it carries, in the order of the transaction. Its own id alone: it pays nobody, and `movement`
       * says what it does; without a `movement` it is a fill, which uses up the sequence of an abandoned attempt.
       */
      item_ids: string[];
      /** Where the bytes expire: a final block above that height (Solana) or after that time (Tron) proves them dead. */
      valid_until_height: bigint | null;
      valid_until_ms: bigint | null;
      /** How many were signed. The others are in `transfer_version`. */
      versions: Generated<number>;
      /** When it was last given its share of the tank that pays for it, as it was to be signed late. */
      share_at: bigint | null;
      /** When its signer last refused to sign it, where no sequence waits behind it. */
      refused_at: bigint | null;
      /** The most that the newest version can cost, or the empty payment in its place; what it has cost, and what that was worth. */
      fee_limit: string | null;
      fee_native: string | null;
      fee_usd: string | null;
      /** The gas tank's address where that pays for it; null: its sender does. */
      fee_payer: string | null;
      /** What opens accounts of its recipients, in native coin. */
      openings: string | null;
      movement: ColumnType<StoredMovement | null, string | undefined, never>;
      /** When the newest version was sent. */
      sent_at: bigint | number | null;
      /** Why it failed, for people. */
      detail: string | null;
      /** The block that decided it. */
      height: bigint | null;
      /** When an audit found that the block is gone; null again once it is mined again. */
      gone_at: bigint | number | null;
      /**
       * The empty payment that takes the sequence of a failed attempt whose block is gone, or of a sent one that is given up
       * (`wallets/fill-gap.ts`). Unlike a fill, it is no attempt of its own, as this one keeps its sequence.
       */
      gap_tx_id: string | null;
      gap_raw: string | null;
      gap_id: string | null;
      gap_ordinal: bigint | null;
      gap_previous_id: string | null;
      /** Of `item_ids`, those that it paid on the chain although the books have them otherwise. */
      stray_ids: Generated<string[]>;
      /** The books of one of its transfers differ from how it was decided first: each audit compares them one by one. */
      differs: Generated<boolean>;
      created_at: bigint | number;
      completed_at: bigint | number | null;
    };
    network_stop: {
      merchant_id: string;
      network: Network;
      what: Generated<'sending' | 'early_credit'>;
      /** All causes that were found, the first one first. */
      reason: string;
      stopped_at: bigint | number;
      height: bigint | number | null;
      causes: Generated<number>;
      last_at: bigint | number | null;
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
    /** Not a hold of money: a group that the signer does not sign before people have acted, and when it is asked again. */
    transfer_hold: {
      merchant_id: string;
      group_id: string;
      reason: string;
      held_at: bigint | number;
      until: bigint | number;
      /** What a charge that gave way takes up again (`attempts/given-way.ts`). */
      attempt_id: string | null;
    };
    signed_approval: {
      merchant_id: string;
      kind: 'payout' | 'refund';
      /** The payout batch or refund. */
      owner_id: string;
      approver: string;
      statement_digest: Buffer;
      valid_until: bigint | number;
      signature: string;
      created_at: bigint | number;
      approver_id: string | null;
      decision: 'approve' | 'reject';
      public_key: string | null;
      credential_id: Buffer | null;
      authenticator_data: Buffer | null;
      client_data_json: Buffer | null;
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
      /** Since when its wallet was seen to allow less than the price; null: it allows enough. */
      unapproved_since: bigint | number | null;
      /** A simulation of a charge has succeeded: the wallet allowed enough then. */
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
      /** Of the wallet that takes over: how many hot wallets the merchant had on the network before it. */
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
      /** Of the present history. */
      first_ordinal: bigint;
      last_attempt_id: string | null;
    };
    gas_tank: {
      network: Network;
      sender: string;
      native: string;
      /** Null where it has staked nothing. */
      stake_free: string | null;
      stake_lent: string | null;
      read_at: bigint | number;
    };
    wallet_sequence: { network: Network; sender: string; sequence: bigint; attempt_id: string };
  }
}
