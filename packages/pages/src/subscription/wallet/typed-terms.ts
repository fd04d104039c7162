import { isSame } from '../../checkout/wallet/payer-steps.ts';
import type { Interval, MandateOffer } from './mandate-run.ts';

/** Seconds of the shortest window in which the collector takes the limit once. */
const PERIODS = { day: 86_400, week: 604_800, month: 2_419_200, year: 31_536_000 } as const;

/** Where wallets are charged by the collector, accounts as contracts know them. */
interface Place {
  chainId: number;
  collector: string;
  contract: string;
  payer: string;
}

/** What a document is about, where it is of that type, for that contract on this chain; otherwise nothing. */
export function readDocument(text: string | null, type: string, chainId: number, contract: string) {
  const { domain, primaryType, message } = JSON.parse(text ?? '{}');
  const isOurs =
    primaryType === type && Object(domain).chainId === chainId && isSame(domain.verifyingContract, contract);
  return isOurs ? message : {};
}

/** Whether the typed terms of an offer are for this place, as offered. */
export function hasTerms(
  { chainId, collector, contract, payer }: Place,
  interval: Interval,
  { cap, subscriptions, steps: [, activate] }: MandateOffer,
): boolean {
  const message = readDocument(activate.typed_data, 'Mandate', chainId, collector);
  return (
    isSame(message.payer, payer) &&
    isSame(message.token, contract) &&
    String(message.cap) === cap &&
    Number(message.subscriptions) === subscriptions &&
    Number(message.period) === PERIODS[interval]
  );
}

/** Unix seconds; 0: none. */
export const endOf = ({ steps: [, activate] }: MandateOffer): number =>
  Number(JSON.parse(activate.typed_data ?? '{}').message?.end);
