import type { CheckoutView } from '@florin/contract/checkout-page';
import type { Translate } from './words.ts';

/** The document's title: where the payment stands, and at whose. */
export function titleOf(view: CheckoutView, t: Translate): string {
  return `${t(`title_${view.state}`, { price: view.price })} – ${view.storeName}`;
}
