import type { Payment } from '@florin/contract/schemas';
import { rulesOf } from '../change-payment.ts';
import { type MerchantRef, type PaymentDeps, paymentSettings } from '../deps.ts';
import { presentPayment } from './present.ts';
import { type PaymentRow, type PaymentView, viewsOf } from './queries.ts';

type Deps = Pick<PaymentDeps, 'db' | 'chains'>;
type Owner = Pick<MerchantRef, 'merchantId' | 'mode'>;

/** The API object of a payment, by its merchant's settings. */
export async function showPayment(deps: Deps, merchant: Owner, view: PaymentView): Promise<Payment> {
  return presentPayment(view, rulesOf(view, await paymentSettings(deps, merchant)));
}

/** The API objects of a merchant's payments, in their order. */
export async function showPayments(
  deps: Deps,
  merchant: Owner,
  rows: readonly PaymentRow[],
): Promise<Payment[]> {
  const settings = await paymentSettings(deps, merchant);
  const views = await viewsOf(deps.db, rows);
  return views.map((view) => presentPayment(view, rulesOf(view, settings)));
}
