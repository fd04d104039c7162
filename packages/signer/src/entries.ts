import type { ChargedWindow } from './mandate-windows.ts';

/** Why a payment was signed, as far as limits and later payments need it. */
export interface PaymentEntry {
  kind: 'payout' | 'refund';
  merchant: string;
  id: string;
  asset: string;
  /** Place and units of each item. */
  items: readonly (readonly [place: number, amount: string])[];
  /** The payout contract; null: a transfer of its own. */
  via: string | null;
  /** By as many people as the policy needs. */
  approved: boolean;
  /** Units that count to the limits: items that were signed before count what they exceed that by. */
  counted: string;
  /**
   * Units that count to what goes out without people. Where it is not approved, an approved signature for the same item does
   * not lower them, as this one may name another recipient; entries of earlier versions have `counted` alone. Where it is
   * approved: units of items whose earlier transactions have expired, as they may have paid what people approved.
   */
  unapproved?: string;
  /** Units of items that may be paid a second time. */
  resent: string;
}

export interface SignEntry {
  type: 'sign';
  /** Unix milliseconds, never less than the entry before. */
  at: number;
  /** Digest of the policy in force. */
  policy: string;
  history: string;
  account: number;
  sender: string;
  sequence: string;
  attempt: string;
  /** Attempts that the signer learned with it. */
  numbers: readonly (readonly [ordinal: string, attempt: string])[];
  /** SHA-256 of all that another version may not change, hex. */
  body: string;
  maxFee: string;
  priority: string;
  gas: string;
  /** Wei by which it raises what this sequence may cost. */
  fee: string;
  kind: string;
  /** With the first version of a payment. */
  payment?: PaymentEntry;
  /** Wei given to a hot wallet. */
  topUp?: string;
  /** Of a sweep: the deposit addresses that it lets run their merchant's delegate. */
  delegations?: readonly { account: number; index: number; nonce: string; delegate: string }[];
}

/** A charge on spl, which no contract keeps. */
export interface ChargeEntry {
  id: string;
  asset: string;
  payer: string;
  /** Units. */
  amount: string;
  /** Units that may be pulled a second time. */
  resent: string;
  mandate?: ChargedMandate;
}

/** By which mandate of its payer. */
export interface ChargedMandate extends ChargedWindow {
  /** `mandateIdOf`. */
  id: string;
}

/** A signature on trc20 or spl: the only one of its attempt. */
export interface SignOnceEntry {
  type: 'sign_once';
  /** Unix milliseconds, never less than the entry before. */
  at: number;
  /** Digest of the policy in force. */
  policy: string;
  history: string;
  network: 'trc20' | 'spl';
  account: number;
  sender: string;
  attempt: string;
  /** Attempts that the signer learned with it. */
  numbers: readonly (readonly [ordinal: string, attempt: string])[];
  /** The bytes that were signed, hex: a server that lost the answer gets them again. */
  unsigned: string;
  /** Of trc20: Unix milliseconds from which on the transaction is certainly in no block. */
  deadFrom?: number;
  /** Sun or lamports that it takes at most. */
  fee: string;
  kind: string;
  payment?: PaymentEntry;
  charge?: ChargeEntry;
  /** Sun given to a wallet of ours. */
  topUp?: string;
}

/** The lines of a journal. */
export type Entry =
  | { type: 'open'; at: number; version: 1; fingerprint: string }
  | { type: 'start'; at: number; policy: string }
  | SignEntry
  | SignOnceEntry
  | { type: 'claim'; at: number; history: string; generation: string }
  /** The account has a new hot wallet. */
  | { type: 'epoch'; at: number; account: number; epoch: number }
  | { type: 'freeze'; at: number; reason: string }
  | { type: 'unfreeze'; at: number };
