import { ASSETS, NETWORKS } from '@florin/contract/money';
import type { PaymentOption } from '@florin/contract/schemas';
import { integerSetting, listSetting, moneySetting } from '../tenancy/settings/index.ts';

const TOKENS = ASSETS.flatMap((asset) => NETWORKS.map((network) => `${asset}:${network}`));

/** Parses `USDT:erc20`. @returns undefined for any other text */
export function parseOption(text: string): PaymentOption | undefined {
  const [token, chain] = text.split(':');
  const currency = ASSETS.find((asset) => asset === token);
  const network = NETWORKS.find((known) => known === chain);
  return currency === undefined || network === undefined ? undefined : { currency, network };
}

export const PAYMENT_SETTINGS = {
  tokens: listSetting({
    name: 'checkout.tokens',
    description: 'Tokens and networks in which payers may pay.',
    fallback: { sandbox: TOKENS, live: TOKENS.filter((token) => token !== 'USDC:trc20') },
    allowed: TOKENS,
  }),
  quoteSeconds: integerSetting({
    name: 'checkout.quote_seconds',
    description: 'How long an exchange rate is promised to a payer.',
    fallback: 900,
    min: 60,
    max: 86_400,
  }),
  toleranceBasisPoints: integerSetting({
    name: 'checkout.tolerance_basis_points',
    description:
      'What may be missing of a payment, in hundredths of a percent; the smaller of this and the sum counts.',
    fallback: 50,
    min: 0,
    max: 1_000,
  }),
  toleranceMaximum: moneySetting({
    name: 'checkout.tolerance_maximum',
    description: 'What may be missing of a payment, in tokens.',
    fallback: '0.50',
  }),
  earlyCreditUpTo: moneySetting({
    name: 'checkout.early_credit_up_to',
    description:
      'On networks whose finality takes minutes: up to this sum a payment is credited after fewer confirmations; 0.00: never.',
    fallback: '1000.00',
  }),
  earlyCreditPerHour: moneySetting({
    name: 'checkout.early_credit_per_hour',
    description: 'The most that a store is credited in this way in a clock hour.',
    fallback: '10000.00',
  }),
  lateSeconds: integerSetting({
    name: 'checkout.late_seconds',
    description: 'How long after its expiry money still completes a payment by itself; 0: never.',
    fallback: 86_400,
    min: 0,
    max: 2_592_000,
  }),
  lateRateBasisPoints: integerSetting({
    name: 'checkout.late_rate_basis_points',
    description:
      'How far the rate may have moved for late money to complete a payment, in hundredths of a percent.',
    fallback: 100,
    min: 0,
    max: 10_000,
  }),
};
