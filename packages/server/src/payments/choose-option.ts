import type { Network } from '@florin/contract/money';
import type { PaymentOption } from '@florin/contract/schemas';
import { AddressPoolEmpty } from '../chains/port/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import { orderFill, takeAddress } from './deposits/address-pools.ts';
import { insertAddress, insertDepositOwner } from './deposits/deposit-queries.ts';
import { scanJob } from './deposits/jobs.ts';
import { type MerchantRef, type PaymentDeps, paymentSettings } from './deps.ts';
import { currentOption, quoteStatusOf } from './facts.ts';
import { quoteOf, readRateOrUnavailable, withQuote } from './quotes/quote.ts';
import { lockPayment, type PaymentView, readPayment, updatePayment, upsertOption } from './reads/queries.ts';

/**
 * Records the payer's choice of token and network. The option gets its address once, for ever, and a quote, which is
 * renewed when it has ended before any money was seen.
 *
 * @throws Fail `invalid_request` for an option that the session does not offer; `service_unavailable` without a rate, or where the network
 *   has no address left
 */
export async function chooseOption(
  deps: PaymentDeps,
  merchant: MerchantRef,
  session: { payment_id: string; options: readonly PaymentOption[]; language?: string },
  choice: PaymentOption,
): Promise<PaymentView> {
  const { currency, network } = choice;
  if (!session.options.some((option) => option.currency === currency && option.network === network)) {
    const message = `This payment cannot be made in ${currency} on ${network}.`;
    throw new Fail('invalid_request', { message, param: 'network' });
  }
  const { merchantId } = merchant;
  const before = await readPayment(deps.db, merchantId, session.payment_id);
  const time = merchantTime(deps, merchant);
  // A valid quote needs no rate, so the payer sees it even while no rate is available.
  const rate =
    validQuote(before, choice, time.seconds) === undefined
      ? await readRateOrUnavailable(deps, merchant, before.payment.currency, currency)
      : undefined;
  const { quoteSeconds } = await paymentSettings(deps, merchant);
  const chain = deps.chains.of(merchant, network);
  const chosen = transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchantId, session.payment_id);
    const { payment } = view;
    const price = { amount: payment.amount, currency: payment.currency };
    const valid = validQuote(view, choice, time.seconds);
    const quoteTime = { quotedAt: time.seconds, seconds: quoteSeconds };
    const quote = valid ?? (rate && quoteOf(price, currency, rate, quoteTime));
    // The quote was held by money at the first read, and that money is gone since.
    if (quote === undefined)
      throw new Fail('service_unavailable', {
        message: 'The payment has changed. Try again.',
        retryAfterSeconds: 1,
      });
    const known = optionOf(view, choice);
    const option =
      known === undefined
        ? {
            ...quote,
            earlier_quotes: [],
            ...(await newAddress(tx, chain, { view, choice, mode: merchant.mode }, time)),
          }
        : withQuote(payment, known, quote);
    await upsertOption(tx, { ...option, chosen_at: time.seconds });
    await updatePayment(tx, payment, {
      chosen_currency: currency,
      chosen_network: network,
      ...(session.language !== undefined && { payer_language: session.language }),
    });
    await enqueue(tx, [scanJob(merchantId, network, time.realMs)]);
    return await lockPayment(tx, merchantId, payment.payment_id);
  });
  return await chosen.catch((error: unknown) => {
    if (error instanceof AddressPoolEmpty) return refuseEmpty(deps, merchantId, network);
    throw error;
  });
}

const optionOf = ({ options }: PaymentView, { currency, network }: PaymentOption) =>
  options.find((option) => option.currency === currency && option.network === network);

/**
 * The option if its quote is still valid: it has not ended, or it is held by money above dust, or the payment has ended
 * and only shows what it asked for.
 */
function validQuote(view: PaymentView, choice: PaymentOption, nowSeconds: number) {
  const option = optionOf(view, choice);
  if (option === undefined) return undefined;
  const { status } = view.payment;
  if (status !== 'pending' && status !== 'processing') return option;
  const isAnother = view.payment.fixed_currency !== null && option !== currentOption(view);
  // A due quote is renewed by `requotePayment`, together with the status that follows.
  return isAnother || quoteStatusOf(view, option, nowSeconds) !== 'over' ? option : undefined;
}

interface NewOption {
  view: PaymentView;
  choice: PaymentOption;
  mode: MerchantMode;
}

/** @throws AddressPoolEmpty */
async function newAddress(
  tx: Tx,
  chain: ReturnType<PaymentDeps['chains']['of']>,
  { view, choice: { currency, network }, mode }: NewOption,
  time: MerchantTime,
): Promise<PaymentOption & { merchant_id: string; payment_id: string; address: string; watch: string }> {
  const { merchant_id, payment_id } = view.payment;
  const { address, watch, index } = await takeAddress(tx, chain, merchant_id, time);
  await insertAddress(tx, {
    merchant_id,
    network,
    watch,
    payment_id,
    currency,
    address_index: index,
  });
  if (mode === 'live') await insertDepositOwner(tx, { merchant_id, network, watch, address_index: index });
  return { merchant_id, payment_id, currency, network, address, watch };
}

/** Nothing was changed. @throws Fail `service_unavailable`: it is known how the pool is filled, and when is not */
async function refuseEmpty(deps: PaymentDeps, merchantId: string, network: Network): Promise<never> {
  await transact(deps.db, (tx) => orderFill(tx, { merchantId, network }, deps.clock.nowMs()));
  const message = `No address on ${network} can be given out at the moment. Choose another network, or try again later.`;
  throw new Fail('service_unavailable', { message, retryAfterSeconds: 60 });
}
