import type { Texts } from '../../texts.ts';
import type { PageLanguage } from '../../views/languages.ts';
import type { MandateWallets } from '../../views/wallet.ts';
import type { Interval } from './mandate-run.ts';

/** What the script of a subscription's page starts from. */
export interface WalletData {
  language: PageLanguage;
  wallets: readonly MandateWallets[];
  /** Calls of the page go below it. */
  token: string;
  texts: Texts<'wallet'>;
  interval: Interval;
  /** Said while no wallet is found, and what phones are led to. */
  noneText: string;
  chooseText: string;
  /** Leads from the terms back to the choice. */
  otherText: string;
  /** By token and network, as in `USDT:erc20`. */
  optionTexts: Readonly<Record<string, string>>;
  apps: { summary: string; text: string; links: Readonly<Record<string, string>> };
  tampered: { heading: string; text: string };
}
