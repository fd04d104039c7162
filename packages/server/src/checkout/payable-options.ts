import { isCurrency } from '@florin/contract/currencies';
import { ASSETS, type Asset } from '@florin/contract/money';
import type { PaymentOption } from '@florin/contract/schemas';
import { type MerchantRef, type PaymentDeps, parseOption, paymentSettings } from '../payments/index.ts';
import { readRateAtCreation } from '../payments/quotes/index.ts';
import { Fail } from '../platform/fail.ts';
import { payAmount } from '../rates/index.ts';

export interface Price {
  amount: number;
  currency: string;
  payment_options?: PaymentOption[];
}

/**
 * The payment options of a price; each is payable now.
 *
 * @throws Fail `invalid_request` for an unknown currency, one without a rate, an amount too large to be paid in a token, or
 * an option that the store does not offer
 */
export async function payableOptions(
  deps: PaymentDeps,
  merchant: Pick<MerchantRef, 'merchantId' | 'mode'>,
  price: Price,
): Promise<PaymentOption[]> {
  const options = optionsOf(price, (await paymentSettings(deps, merchant)).tokens);
  for (const token of ASSETS.filter((asset) => options.some((option) => option.currency === asset))) {
    const rate = await readRateAtCreation(deps, merchant, price.currency, token);
    payAmount({ amount: BigInt(price.amount), currency: price.currency }, token, rate);
  }
  return options;
}

/** A price in a token is paid in that token, unless the request sets other options. */
function optionsOf(price: Price, offered: readonly string[]): PaymentOption[] {
  if (!isCurrency(price.currency)) {
    const message = `${price.currency} is neither an ISO 4217 currency nor USDT or USDC.`;
    throw new Fail('invalid_request', { message, param: 'currency' });
  }
  const isOffered = ({ currency, network }: PaymentOption) => offered.includes(`${currency}:${network}`);
  if (price.payment_options !== undefined) {
    const unknown = price.payment_options.findIndex((option) => !isOffered(option));
    if (unknown === -1) return price.payment_options;
    const param = `payment_options[${unknown}]`;
    throw new Fail('invalid_request', {
      message: 'The store does not offer this token on this network.',
      param,
    });
  }
  const options = offeredOptions(price.currency, offered);
  if (options.length > 0) return options;
  const message =
    offered.length === 0
      ? 'The store can take no payments: this installation has no node for any network that the store offers.'
      : `The store does not accept ${price.currency}. Name the tokens to pay in as payment_options.`;
  throw new Fail('invalid_request', { message, param: 'currency' });
}

/** All options that a store offers for prices in a currency. @param offered such as `USDT:erc20` */
export function offeredOptions(priceCurrency: string, offered: readonly string[]): PaymentOption[] {
  const all = offered.flatMap((token) => parseOption(token) ?? []);
  const own = ASSETS.find((asset: Asset) => asset === priceCurrency);
  return own === undefined ? all : all.filter(({ currency }) => currency === own);
}
