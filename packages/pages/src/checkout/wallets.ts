import type { TextKey } from '../texts.ts';
import type { CheckoutView } from '../views/checkout.ts';

/**
 * A wallet that pays by itself, as a form of the page: the simulated one pays without any script. The wallets of real
 * networks are found when the page is live (`wallet/found-wallets.ts`), and their code is loaded when one is chosen.
 */
export interface PayerWallet {
  id: string;
  label: TextKey<'checkout'>;
  /** Call of the page that pays, and its fields. */
  call: string;
  fields: Readonly<Record<string, string>>;
}

export function walletsOf(view: CheckoutView): PayerWallet[] {
  if (!view.isSimulated || view.due === null) return [];
  return [{ id: 'simulated', label: 'wallet_simulated', call: 'simulate', fields: { action: 'wallet' } }];
}
