import type { Asset } from '@florin/contract/money';
import { quoteCharge } from '../../payments/charges/index.ts';
import type { StoreCaller, SubscriptionDeps } from '../deps.ts';
import type { SubscriptionRow } from '../queries.ts';

/** Twice the sum of the items, so that a plan may grow a little without another signature. */
export const CAP_FACTOR = 2n;
const SOME_TOKENS = 1_000_000n;

/** The cap per period that a page requests, in units of a token; undefined while there is no rate. */
export async function mandateCap(
  deps: SubscriptionDeps,
  caller: Pick<StoreCaller, 'merchantId' | 'mode'>,
  { amount, currency }: Pick<SubscriptionRow, 'amount' | 'currency'>,
  token: Asset,
): Promise<bigint | undefined> {
  if (amount === 0n) return SOME_TOKENS;
  const quote = await quoteCharge(deps, caller, { amount: amount * CAP_FACTOR, currency }, token);
  return quote?.pay_amount;
}
