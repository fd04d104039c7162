import type { Translate } from '../texts.ts';
import type { CheckoutView } from '../views/checkout.ts';

/** The document's title: where the payment stands, and at whose. */
export function titleOf(view: CheckoutView, t: Translate<'checkout'>): string {
  return `${t(`title_${view.state}`, { price: view.price })} – ${view.storeName}`;
}
