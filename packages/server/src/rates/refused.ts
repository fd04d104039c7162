import { Fail } from '../platform/fail.ts';

/**
 * Why there is no rate. `no_rate`: too few sources answered for the pair; `invalid`: their answers are no numbers above
 * zero; `stale`: their answers are too old; `deviating`: they contradict each other; `depegged`: the token is not worth a
 * dollar.
 */
export type RateRefusal = 'no_rate' | 'invalid' | 'stale' | 'deviating' | 'depegged';

const TRY_AGAIN_SECONDS = 30;
const NO_SOURCES =
  'No provider of rates is named for this merchant: its operator names one (florin settings set rates.sources). ' +
  'A price in USDT or USDC that is paid in the same token needs none.';

/** There is no reliable rate for a pair. */
export class RateRefused extends Error {
  readonly reason: RateRefusal;
  readonly currency: string;

  /** What is to be done, where waiting does not help. */
  readonly #remedy: string | undefined;

  /** @param hasSources false: nobody has named a provider of rates for the merchant */
  constructor(
    reason: RateRefusal,
    { token, currency }: { token: string; currency: string },
    hasSources = true,
  ) {
    super(`no exchange rate of ${token} in ${currency}: ${reason}`);
    this.reason = reason;
    this.currency = currency;
    this.#remedy = hasSources ? undefined : NO_SOURCES;
  }

  /** The error for a request that contains the currency. */
  asInvalidRequest(): Fail {
    return new Fail('invalid_request', {
      message: `There is no exchange rate for ${this.currency} now (${this.reason}). ${this.#remedy ?? 'Use another currency, or try again later.'}`,
      param: 'currency',
      cause: this,
    });
  }

  /** The error where the currency was fixed before the request. */
  asUnavailable(): Fail {
    return new Fail('service_unavailable', {
      message: `There is no exchange rate for ${this.currency} now (${this.reason}). ${this.#remedy ?? 'Try again later.'}`,
      retryAfterSeconds: TRY_AGAIN_SECONDS,
      cause: this,
    });
  }
}
