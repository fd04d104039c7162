import type { Asset, Network } from '@florin/contract/money';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import type { Rate } from './rate.ts';

/** Coins in which networks take their fees. */
export type Coin = 'ETH' | 'TRX' | 'SOL';

/** A token, or a network's own coin, and the currency it is priced in. */
export interface Pair {
  token: Asset | Coin;
  currency: string;
}

export interface RateRequest extends Pair {
  token: Asset;
  merchantId: string;
  mode: MerchantMode;
}

/** The price of one coin in which a network takes its fees. */
export interface CoinPrice extends Rate {
  /** Its smallest units, in which nodes count: wei, sun, lamports. */
  readonly unitsPerCoin: bigint;
}

export interface Rates {
  /**
   * The present price of one token in the currency; 1 for the token itself. May call other servers and take seconds: never
   * call it inside a transaction.
   *
   * @throws RateRefused where there is no reliable rate; the caller makes it a `Fail`
   */
  quote(request: RateRequest): Promise<{ rate: Rate }>;
  /**
   * The present price of a network's own coin in US dollars, by the installation's sources; undefined where they give none
   * that is reliable. As slow as `quote`.
   */
  priceOfCoin(network: Network): Promise<CoinPrice | undefined>;
  /** Aborts running requests and closes the connections to providers. */
  close(): Promise<void>;
}

/** A source's rate and its time, in Unix milliseconds of real time. */
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

/** A source has no rate for a pair, or its answer is invalid. */
export class SourceFailed extends Error {
  readonly reason: 'no_rate' | 'invalid';

  /** @param detail for the log; never text of the provider */
  constructor(reason: 'no_rate' | 'invalid', detail: string) {
    super(detail);
    this.reason = reason;
  }
}
