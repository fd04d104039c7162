import type { TargetedSubmitEvent } from 'preact';
import type { Translate } from '../texts.ts';
import type { CheckoutView, Choosing } from '../views/checkout.ts';
import type { PageWallets } from './wallet/use-wallets.ts';

/** What every part of the page works with. In the server nothing is live yet. */
export interface Page {
  view: CheckoutView;
  token: string;
  /** Said above the page of a sandbox merchant. */
  testText: string;
  /** Stands before the store's contact. */
  contactText: string;
  t: Translate<'checkout'>;
  /** Milliseconds of the browser's counter at which the view came; 0 in the server. */
  since: number;
  /** The script runs: buttons that need it are shown. */
  isLive: boolean;
  /** Another option is being chosen. */
  choosing: Choosing | null;
  /** Once paid the page leads back to the store by itself. */
  isAutoReturn: boolean;
  /** A form is on its way. */
  isBusy: boolean;
  /** Shows a step of choosing, or none, as an entry of the browser's history. */
  go: (choosing: Choosing | null) => void;
  submit: (event: TargetedSubmitEvent<HTMLFormElement>) => void;
  say: (text: string) => void;
  onTampered: () => void;
  wallets: PageWallets;
}

/** The page's own address with a step of choosing; what else it says stays. */
export function linkTo(
  { view, isAutoReturn }: Pick<Page, 'view' | 'isAutoReturn'>,
  choosing: Choosing | null,
): string {
  const query = new URLSearchParams({ lang: view.language });
  if (isAutoReturn) query.set('return', 'auto');
  if (choosing?.token != null) query.set('token', choosing.token);
  else if (choosing !== null) query.set('choose', '1');
  return `?${query}`;
}
