import type { TextKey } from '../texts.ts';
import type { CheckoutView } from '../views/checkout.ts';

/**
 * A wallet that pays by itself. Each comes as a form of the page, so that the simulated one pays without any script. The
 * wallets of real networks (EIP-6963 on Ethereum, the wallet standard on Solana, TronLink) join this list once their
 * chains do: found when the page is live, their code loaded when one is chosen.
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
