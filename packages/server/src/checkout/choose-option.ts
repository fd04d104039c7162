import type { PaymentOption } from '@florin/contract/schemas';
import type { Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { type CheckoutDeps, checkoutSettings, type MerchantRef } from './deps.ts';
import { scanJob } from './jobs.ts';
import {
  insertAddress,
  lockPayment,
  nextAddressIndex,
  type PaymentView,
  readPayment,
  type SessionRow,
  updatePayment,
  upsertOption,
} from './queries.ts';
import { quoteOf, rateLater } from './quote.ts';

/**
 * The payer chooses in what to pay: the option gets its address, once and for ever, and a quote, which is renewed when
 * it has ended and no money was seen.
 *
 * @throws Fail `invalid_request` for an option that the session does not offer; `service_unavailable` without a rate
 */
export async function chooseOption(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  session: Pick<SessionRow, 'payment_id' | 'options'>,
  choice: PaymentOption,
): Promise<PaymentView> {
  const { currency, network } = choice;
  if (!session.options.some((option) => option.currency === currency && option.network === network)) {
    const message = `This payment cannot be made in ${currency} on ${network}.`;
    throw new Fail('invalid_request', { message, param: 'network' });
  }
  const { merchantId } = merchant;
  const known = await readPayment(deps.db, merchantId, session.payment_id);
  const rate = await rateLater(deps, merchant, known.payment.currency, currency);
  const { quoteSeconds } = await checkoutSettings(deps, merchant);
  const chain = deps.chains.of(merchant, network);
  const occasion = occasionOf(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchantId, session.payment_id);
    const { payment } = view;
    const price = { amount: payment.amount, currency: payment.currency };
    const existing = view.options.find((o) => o.currency === currency && o.network === network);
    const isQuoted =
      existing !== undefined &&
      (payment.fixed_currency !== null || Number(existing.quote_ends_at) > occasion.seconds);
    const quote = isQuoted ? existing : quoteOf(price, currency, rate, occasion.seconds + quoteSeconds);
    const place =
      existing ?? (await newAddress(tx, chain, { merchantId, paymentId: payment.payment_id, ...choice }));
    await upsertOption(tx, {
      merchant_id: merchantId,
      payment_id: payment.payment_id,
      currency,
      network,
      address: place.address,
      watch: place.watch,
      exchange_rate: quote.exchange_rate,
      pay_amount: quote.pay_amount,
      quote_ends_at: quote.quote_ends_at,
      chosen_at: occasion.seconds,
    });
    await updatePayment(tx, payment, { chosen_currency: currency, chosen_network: network });
    await enqueue(tx, [scanJob(merchantId, network, occasion.realMs)]);
    return await lockPayment(tx, merchantId, payment.payment_id);
  });
}

async function newAddress(
  tx: Tx,
  chain: ReturnType<CheckoutDeps['chains']['of']>,
  option: { merchantId: string; paymentId: string } & PaymentOption,
): Promise<{ address: string; watch: string }> {
  const { merchantId, paymentId, currency, network } = option;
  const index = await nextAddressIndex(tx, merchantId, network);
  // Derived, not asked for: no node is called while the row is locked.
  const { address, watch } = await chain.depositAddress({ index: Number(index) });
  await insertAddress(tx, {
    merchant_id: merchantId,
    network,
    watch,
    payment_id: paymentId,
    currency,
    address_index: index,
  });
  return { address, watch };
}
