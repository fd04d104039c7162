import { post } from '../ledger/index.ts';
import type { PaymentContext } from '../payments/index.ts';
import {
  changePayment,
  decide,
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
 * Asks for less on the page of an invoice, at the rates that its payer was shown. The caller has the lock of the payment
 * and has seen that nothing undecided lies there; what was received before may be enough now.
 */
export async function repriceInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  amount: bigint,
  context: PaymentContext,
): Promise<void> {
  const before = await lockPayment(tx, merchantId, paymentId);
  invariant(invoicePageState(factsOf(before)) === 'open', 'only an open page asks for another amount');
  const { currency, amount: asked, earlier_amounts: earlier } = before.payment;
  // What came so far was dust, or more, of what was asked then.
  const earlierAmounts = [...earlier, { amount: String(asked), until: context.time.seconds }];
  await updatePayment(tx, before.payment, { amount, earlier_amounts: JSON.stringify(earlierAmounts) });
  for (const option of before.options) {
    const pay_amount = payAmount({ amount, currency }, option.currency, parseRate(option.exchange_rate));
    await upsertOption(tx, { ...option, pay_amount });
  }
  const now = await readPayment(tx, merchantId, paymentId);
  const fixed = fixedOptionOf(before);
  const nothing = { arrived: [], minedAgain: [], isJudged: false, rateMoved: false };
  const settled = decide({ before, fixed, ...nothing }, now, context);
  await post(tx, merchantId, settled.postings, context.time.seconds);
  const { payment_id: _, ...change } = settled.change;
  await changePayment(tx, before, change, context);
}
