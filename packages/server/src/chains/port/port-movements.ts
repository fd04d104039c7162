import type { Asset } from '@florin/contract/money';
import type { DepositKeyRef, RotatedKeyRef } from './key-refs.ts';
import type { Mandate, SignedPermit } from './port-mandates.ts';

/**
 * A movement of the service itself, which pays nobody: `gas` gives a wallet of ours native coins, `lend` delegates stake of the gas tank
 * and `unlend` takes it back, `move` brings what a rotated hot wallet holds to the present one, `approve` lets our payout contract pull
 * tokens, `deploy` puts a contract of ours on the chain, `account` and `activate` prepare charges, `fill` uses up a sequence with an empty
 * payment to the sender.
 */
export type Movement =
  /**
   * To the present hot wallet, where `to` names no other; `owner`: the owner of the merchant's account at the collector; a deposit address
   * on trc20, where it sends its coins itself.
   */
  | { kind: 'gas'; amount: bigint; to?: 'owner' | RotatedKeyRef | DepositKeyRef }
  /** Lends a deposit address what the tank has staked, which pays the fee of its sweep, or takes it back: `staked` of native coin. */
  | { kind: 'lend' | 'unlend'; staked: bigint; to: DepositKeyRef }
  /** `asset` null: the native coin. */
  | { kind: 'move'; asset: Asset | null; amount: bigint }
  | { kind: 'approve'; asset: Asset; amount: bigint }
  | { kind: 'deploy'; contract: 'batch_payout' | 'collector' | 'sweeper' | 'sweep_delegate' }
  /** Opens the merchant's account at the collector. */
  | { kind: 'account' }
  /** Brings a payer's mandate to the collector, after the payer's approval where that is signed too; signatures are hex. */
  | { kind: 'activate'; mandate: Mandate; signature: string; permit?: SignedPermit }
  | { kind: 'fill' };
