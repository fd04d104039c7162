export type MandatePeriod = 'day' | 'week' | 'month' | 'year';

/** What a payer signs, beside payer, token and the wallet that is paid. */
export interface MandateTerms {
  /** Units of the token, decimal digits: the most of one window. */
  cap: string;
  /** No window is shorter. */
  period: MandatePeriod;
  /** Unix seconds; null: without end. */
  startsAt: number;
  endsAt: number | null;
  /** Most subscriptions that may be charged by it, each with a cap of its own. */
  subscriptions: number;
  /** 1 to 64 printable characters of ASCII. */
  salt: string;
}

/** By which mandate, and in which window of which subscription. Where no contract keeps these, the signer does. */
export interface MandatedCharge {
  terms: MandateTerms;
  /** The payer's, over `mandateText`; Ed25519, hex. */
  signature: string;
  /** UUID. */
  subscription: string;
  /** Unix seconds. */
  windowStart: number;
  windowEnd: number;
}
