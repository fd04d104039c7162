import type { Asset } from '@florin/contract/money';

export type MandatePeriod = 'day' | 'week' | 'month' | 'year';

const DAY_SECONDS = 86_400;
/** The shortest possible period of each kind: no window with a cap of its own may be shorter. */
export const PERIOD_SECONDS_MIN: Readonly<Record<MandatePeriod, number>> = {
  day: DAY_SECONDS,
  week: 7 * DAY_SECONDS,
  month: 28 * DAY_SECONDS,
  year: 365 * DAY_SECONDS,
};

/** For how long an approval that is signed with a mandate can be sent: its terms are handed in within a day, and sent within another. */
export const PERMIT_SECONDS = 2 * DAY_SECONDS;

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
  /**
   * Most subscriptions that it may be charged for, each with a cap of its own. Required where the payer signs for it; absent:
   * the network does not count them.
   */
  subscriptions?: number;
  /** Makes mandates distinct that are equal otherwise. */
  salt: string;
}

export interface MandateRequest extends Omit<Mandate, 'mandateId' | 'recipient'> {
  /**
   * The total that may be pulled from the wallet, by all its mandates of that asset: an approval replaces the one before
   * it. On spl it replaces another spender's too, as a token account has one delegate; there it is what the new mandate adds, and the
   * step's amount has what the wallet allows us already besides.
   */
  allowance: bigint;
  /**
   * Unix seconds until which a signed approval can be sent. Where it is given, and token and wallet can do with a signature
   * (EIP-2612), the step `permit` takes the place of `approve`. Absent: the approval is a transaction of the payer.
   */
  permitUntil?: number;
}

export interface MandateSetup {
  mandate: Mandate;
  /** The spender that pulls: the collector's address on erc20, a wallet of ours where the network has no collector. */
  spender: string;
  /** In order; the payer signs each. */
  steps: MandateStep[];
}

export type MandateStep =
  /** `transaction`: as the payer's wallet signs and sends it, hex, where the network's own wallets are handed whole transactions. */
  | { kind: 'approve'; asset: Asset; spender: string; amount: bigint; transaction?: string }
  /**
   * The same approval as a signature, which the movement `activate` brings along: the payer pays no fee. `nonce` is the token's,
   * `typedData` as below.
   */
  | {
      kind: 'permit';
      asset: Asset;
      spender: string;
      amount: bigint;
      nonce: bigint;
      deadline: number;
      typedData?: string;
    }
  /**
   * Registers the mandate at the collector. `typedData`: JSON that the wallet signs (EIP-712), and the movement `activate` brings the
   * signature to the chain. `message`: text that the wallet signs where there is no collector; whoever signs charges wants that
   * signature with each of them. Absent where neither is.
   */
  | { kind: 'activate'; mandateId: string; typedData?: string; message?: string };

/** An approval that the payer has signed. */
export interface SignedPermit {
  amount: bigint;
  nonce: bigint;
  /** Unix seconds; the token takes it until then. */
  deadline: number;
  /** Hex. */
  signature: string;
}

/**
 * What the token says of a signed approval. `open`: it takes it now. `spent`: another signature with that nonce, or this one, was
 * sent before, by whomever: the allowance counts. `expired`: too little time is left to send it. `refused`: it is not
 * signed so by that wallet, or the token takes nothing of it now.
 */
export type PermitState = 'open' | 'spent' | 'expired' | 'refused';

export interface MandateState {
  /**
   * `missing`: not on the chain, or gone from it; where the chain keeps no mandates, the wallet allows us nothing. `revoked`: the payer
   * has revoked it for good.
   */
  state: 'active' | 'revoked' | 'missing';
  /** Where no contract keeps mandates: it was given into another wallet of ours, in another token or on another chain than charges here now. */
  isUnserved?: true;
  /** The wallet's balance, and what we may still pull, over all its mandates of that asset. */
  balance: bigint;
  allowance: bigint;
}

export interface MandateStatesAnswer {
  /** The final block that the states are as of. */
  height: bigint;
  /** In the order of the request; undefined: this one cannot be read now, and the others can. */
  states: (MandateState | undefined)[];
}

export interface ChargeTerms {
  mandate: Mandate;
  /** The caller's id of this charge, the only entry of `SignedTx.itemIds`. */
  chargeId: string;
  amount: bigint;
  /** The payer's over `message` of the setup, where there is one; hex. */
  signature?: string;
  /** The cap applies to each subscription and window (Unix seconds); overlapping windows count together. */
  subscriptionId: string;
  windowStart: number;
  windowEnd: number;
}

/** The network's reason for refusing a charge. */
export type ChargeFault = (typeof CHARGE_FAULTS)[number];
export const CHARGE_FAULTS = [
  'insufficient_balance',
  'insufficient_allowance',
  'cap_exceeded',
  'mandate_revoked',
  /** It arrived after the end of its window or of the mandate's term. We were late; the payer did nothing wrong. */
  'too_late',
  /** What failed is the fee, or our own account. The payer did nothing wrong. */
  'our_fault',
] as const;

/** Those that are the payer's. */
export type PayersFault = Exclude<ChargeFault, 'too_late' | 'our_fault'>;
