import type { Asset } from '@florin/contract/money';

export type MandatePeriod = 'day' | 'week' | 'month' | 'year';

/** A payer's permission: up to `cap` units in each window of a subscription, into one wallet of ours and no other. */
export interface Mandate {
  /** Its id on the network, derived from all other fields. */
  mandateId: string;
  asset: Asset;
  /** The wallet that is charged, canonical. */
  payer: string;
  recipient: string;
  cap: bigint;
  /** The length of a window. */
  period: MandatePeriod;
  /** Unix seconds between which it may be charged; null: without end. */
  startsAt: number;
  endsAt: number | null;
  /** Makes mandates distinct that are equal otherwise. */
  salt: string;
}

export interface MandateRequest extends Omit<Mandate, 'mandateId' | 'recipient'> {
  /**
   * The total that may be pulled from the wallet, by all its mandates of that asset: an approval replaces the one before
   * it. On spl it replaces another spender's too, as a token account has one delegate.
   */
  allowance: bigint;
}

export interface MandateSetup {
  mandate: Mandate;
  /** The spender that pulls: the collector's address on erc20, a wallet of ours where the network has no collector. */
  spender: string;
  /** In order; the payer signs each. */
  steps: MandateStep[];
}

export type MandateStep =
  | { kind: 'approve'; asset: Asset; spender: string; amount: bigint }
  /** Registers the mandate at the collector; absent where the network has none. */
  | { kind: 'activate'; mandateId: string };

export interface MandateState {
  /** `missing`: not on the chain, or gone from it. `revoked`: the payer has revoked it. */
  state: 'active' | 'revoked' | 'missing';
  /** The wallet's balance, and what we may still pull, over all its mandates of that asset. */
  balance: bigint;
  allowance: bigint;
}

export interface MandateStatesAnswer {
  /** The final block that the states are as of. */
  height: bigint;
  /** In the order of the request. */
  states: MandateState[];
}

/** The network's reason for refusing a charge. */
export type ChargeFault = (typeof CHARGE_FAULTS)[number];
export const CHARGE_FAULTS = [
  'insufficient_balance',
  'insufficient_allowance',
  'cap_exceeded',
  'mandate_revoked',
] as const;
