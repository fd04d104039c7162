import { exponentOf } from '@florin/contract/currencies';
import {
  type AmountFault,
  type LinkPosterView,
  type LinkView,
  type PageLanguage,
  priceText,
} from '@florin/pages';
import { qrCodeOf } from '../page/qr-code.ts';
import type { OpenedLink } from './open-link.ts';

/** The decimals that people write where a currency has more. */
const USUAL_DECIMALS = 2;

/** What the form holds: after a fault, what was typed. */
export interface Typed {
  once: string;
  text?: string;
  fault?: AmountFault;
}

/** An amount of the currency as it may be typed, whatever the language: `12.50`, `500`, `12.500`. */
function exampleOf(currency: string): string {
  const exponent = exponentOf(currency);
  if (exponent === 0) return '500';
  return `12.${'5'.padEnd(exponent > 4 ? USUAL_DECIMALS : exponent, '0')}`;
}

function subjectOf(language: PageLanguage, { link, storeName, brand, isTest }: OpenedLink) {
  const { amount, currency, description } = link;
  return {
    language,
    storeName,
    brand,
    isTest,
    description,
    price: amount === null ? null : priceText(amount, currency, language),
  };
}

/** What the page of a link shows. */
export function linkView(
  language: PageLanguage,
  opened: OpenedLink,
  { once, text = '', fault }: Typed,
): LinkView {
  const { currency } = opened.link;
  return {
    page: 'link',
    ...subjectOf(language, opened),
    currency,
    example: exampleOf(currency),
    isWhole: exponentOf(currency) === 0,
    once,
    typed: text,
    fault: fault ?? null,
  };
}

/** What the sheet to print shows. @param url of the link */
export function posterView(language: PageLanguage, opened: OpenedLink, url: string): LinkPosterView {
  return { page: 'link_poster', ...subjectOf(language, opened), url, qr: qrCodeOf(url) };
}
