import { post } from '../ledger/index.ts';
import type { PaymentContext } from '../payments/index.ts';
import {
  changePayment,
  decideArrival,
  factsOf,
  fixedOptionOf,
  invoicePageState,
  lockPayment,
  readPayment,
  updatePayment,
  upsertOption,
} from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { invariant } from '../platform/fail.ts';
import { parseRate, payAmount } from '../rates/index.ts';

/**
 * Lowers the amount of an invoice's page, at the rates that its payer has seen. The caller holds the lock of the payment
 * and has checked that it has no undecided money. The money received so far may now be enough.
 */
export async function repriceInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  amount: bigint,
  context: PaymentContext,
): Promise<void> {
  const before = await lockPayment(tx, merchantId, paymentId);
  invariant(invoicePageState(factsOf(before)) === 'open', 'only an open page can be repriced');
  const { currency, amount: amountBefore, earlier_amounts: earlier } = before.payment;
  // Whether money received so far is dust depends on the amount at its time.
  const earlierAmounts = [...earlier, { amount: String(amountBefore), until: context.time.seconds }];
  await updatePayment(tx, before.payment, { amount, earlier_amounts: JSON.stringify(earlierAmounts) });
  for (const option of before.options) {
    const pay_amount = payAmount({ amount, currency }, option.currency, parseRate(option.exchange_rate));
    await upsertOption(tx, { ...option, pay_amount });
  }
  const now = await readPayment(tx, merchantId, paymentId);
  const fixed = fixedOptionOf(before);
  const nothing = { arrived: [], minedAgain: [], hasNewMoney: false, rateMoved: false };
  const settled = decideArrival({ before, fixed, ...nothing }, now, context);
  await post(tx, merchantId, settled.postings, context.time.seconds);
  const { payment_id: _, ...change } = settled.change;
  await changePayment(tx, before, change, context);
}
