import type { Asset } from '@florin/contract/money';
import type { MerchantMode } from '../platform/settings.ts';
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
  /** Closes the connections to providers. */
  close(): Promise<void>;
}
