import type { Asset } from '@florin/contract/money';
import type { MerchantMode } from '../tenancy/index.ts';
import type { Rate } from './rate.ts';

/** What is asked for: what one token costs in a currency. */
export interface Pair {
  token: Asset;
  currency: string;
}

export interface RateRequest extends Pair {
  merchantId: string;
  mode: MerchantMode;
}

export interface Rates {
  /**
   * What one token costs in the currency now; a token costs 1 of itself. May ask other servers and take seconds: never
   * called inside a transaction.
   *
   * @throws RateRefused for what nothing can be sold at; the caller makes it a `Fail`
   */
  quote(request: RateRequest): Promise<{ rate: Rate }>;
  /** Ends what is under way and closes the connections to providers. */
  close(): Promise<void>;
}

/** What a source said, and when that was true, in Unix milliseconds of real time. */
export interface SourceQuote {
  rate: Rate;
  atMs: number;
}

/** One provider of rates. */
export interface RateSource {
  /** For the log: never a URL, which may hold a key. */
  name: string;
  /** @throws SourceFailed and nothing else */
  quote(pair: Pair): Promise<SourceQuote>;
}

/** A source has nothing to say of a pair, or nothing that is a rate. */
export class SourceFailed extends Error {
  readonly reason: 'no_rate' | 'invalid';

  /** @param detail for the log: no text of the provider */
  constructor(reason: 'no_rate' | 'invalid', detail: string) {
    super(detail);
    this.reason = reason;
  }
}
