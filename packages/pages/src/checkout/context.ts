import type { TargetedSubmitEvent } from 'preact';
import type { Translate } from '../texts.ts';
import type { CheckoutView } from '../views/checkout.ts';

/** What every part of the page works with. In the server nothing is live yet. */
export interface Page {
  view: CheckoutView;
  token: string;
  /** Said above the page of a sandbox merchant. */
  testText: string;
  t: Translate<'checkout'>;
  /** Milliseconds of the browser's counter at which the view came; 0 in the server. */
  since: number;
  /** The script runs: buttons that need it are shown. */
  isLive: boolean;
  /** Another option is being chosen. */
  isChoosing: boolean;
  /** A form is on its way. */
  isBusy: boolean;
  choose: (isChoosing: boolean) => void;
  submit: (event: TargetedSubmitEvent<HTMLFormElement>) => void;
  say: (text: string) => void;
  onTampered: () => void;
}
