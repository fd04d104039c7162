import { Fail } from '../platform/fail.ts';

/**
 * Why there is no rate to sell at. `no_rate`: too few sources answered for the pair; `invalid`: they answered no number
 * above zero; `stale`: what they said is too old; `deviating`: they contradict each other; `depegged`: the token is not
 * worth a dollar.
 */
export type RateRefusal = 'no_rate' | 'invalid' | 'stale' | 'deviating' | 'depegged';

const TRY_AGAIN_SECONDS = 30;

/** No rate that a price may be paid at. Nothing is sold at a doubtful one. */
export class RateRefused extends Error {
  readonly reason: RateRefusal;
  readonly currency: string;

  constructor(reason: RateRefusal, { token, currency }: { token: string; currency: string }) {
    super(`no exchange rate of ${token} in ${currency}: ${reason}`);
    this.reason = reason;
    this.currency = currency;
  }

  /** To a caller who names the currency in the request. */
  asInvalidRequest(): Fail {
    return new Fail('invalid_request', {
      message: `There is no exchange rate for ${this.currency} now (${this.reason}). Use another currency, or try again later.`,
      param: 'currency',
      cause: this,
    });
  }

  /** To a caller for whom the currency is settled already. */
  asUnavailable(): Fail {
    return new Fail('service_unavailable', {
      message: `There is no exchange rate for ${this.currency} now (${this.reason}). Try again later.`,
      retryAfterSeconds: TRY_AGAIN_SECONDS,
      cause: this,
    });
  }
}
