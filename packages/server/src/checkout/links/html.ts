import type { PageLanguage } from '@florin/contract/checkout-page';
import { exponentOf, formatPrice } from '@florin/contract/currencies';
import { escapeHtml, type PageAnswer } from '../../platform/http/index.ts';
import { qrCodeOf } from '../page/qr-code.ts';
import { payerPage, storeHead } from '../page/shell.ts';
import type { OpenedLink } from './open-link.ts';
import type { AmountFault } from './pay-link.ts';
import { say, type Word } from './words.ts';

/** The decimals that people write where a currency has more. */
const USUAL_DECIMALS = 2;
const TYPED_MAX = 32;

/** What the form shows again after something was wrong. */
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

/** The page of a link: what is paid for, how much, and one button; without script. */
export function linkPage(language: PageLanguage, opened: OpenedLink, typed: Typed): PageAnswer {
  const { link, storeName, owner } = opened;
  const test = owner.mode === 'sandbox' ? say(language, 'test_mode') : undefined;
  const title = say(language, 'title', { store: storeName });
  const { amount, currency, description } = link;
  const price =
    amount === null
      ? amountField(language, currency, typed)
      : `<p class="price">${escapeHtml(formatPrice(amount, currency, language))}</p>${faultHtml(language, currency, typed)}`;
  return payerPage({
    status: typed.fault === undefined ? 200 : 400,
    language,
    title,
    body: `${storeHead(storeName, test)}
<div class="card">
<h1>${escapeHtml(title)}</h1>
${description === null ? '' : `<p dir="auto">${escapeHtml(description)}</p>`}
<form method="post">
<input type="hidden" name="once" value="${escapeHtml(typed.once)}">
${price}
<p class="quiet small">${escapeHtml(say(language, 'help'))}</p>
<button>${escapeHtml(say(language, 'continue'))}</button>
</form>
</div>`,
  });
}

function amountField(language: PageLanguage, currency: string, typed: Typed): string {
  const example = exampleOf(currency);
  const inputMode = exponentOf(currency) === 0 ? 'numeric' : 'decimal';
  const isWrong = typed.fault !== undefined;
  // The fault names the example, too.
  const help = isWrong
    ? faultHtml(language, currency, typed)
    : `<p class="quiet small" id="example">${escapeHtml(say(language, 'example', { example }))}</p>`;
  return `<label class="text" for="amount">${escapeHtml(say(language, 'amount', { currency }))}</label>
<input type="text" id="amount" name="amount" inputmode="${inputMode}" dir="ltr" autocomplete="off" required maxlength="${TYPED_MAX}"
 aria-describedby="${isWrong ? 'fault' : 'example'}"${isWrong ? ' aria-invalid="true"' : ''} value="${escapeHtml(typed.text ?? '')}">
${help}`;
}

function faultHtml(language: PageLanguage, currency: string, { fault }: Typed): string {
  if (fault === undefined) return '';
  const text = say(language, fault, { currency, example: exampleOf(currency) });
  return `<p class="error" id="fault" role="alert">${escapeHtml(text)}</p>`;
}

/** A page to print: what a payer scans at a counter. @param url of the link */
export function printPage(
  language: PageLanguage,
  { link, storeName, owner }: OpenedLink,
  url: string,
): PageAnswer {
  const { size, path } = qrCodeOf(url);
  const { amount, currency, description } = link;
  const title = say(language, 'scan');
  const price =
    amount === null ? '' : `<p class="price">${escapeHtml(formatPrice(amount, currency, language))}</p>`;
  const test = owner.mode === 'sandbox' ? say(language, 'test_mode') : undefined;
  return payerPage({
    language,
    title: say(language, 'title', { store: storeName }),
    body: `${storeHead(storeName, test)}
<div class="card center">
<h1>${escapeHtml(title)}</h1>
${description === null ? '' : `<p dir="auto">${escapeHtml(description)}</p>`}
${price}
<div class="qr"><svg viewBox="0 0 ${size} ${size}" role="img" aria-label="${escapeHtml(say(language, 'scan_label'))}" shape-rendering="crispEdges"><path d="${path}" fill="#000"/></svg></div>
<p class="quiet small" dir="ltr">${escapeHtml(url)}</p>
</div>`,
  });
}

/** A page that only says something: `<what>_title` and `<what>_text`. */
export function sayingPage(
  language: PageLanguage,
  what: 'closed' | 'missing' | 'busy' | 'unavailable',
  { status, storeName }: { status: number; storeName?: string },
): PageAnswer {
  const store = { store: storeName ?? '' };
  const text = (word: Word) => escapeHtml(say(language, word, store));
  return payerPage({
    status,
    language,
    title: say(language, `${what}_title`, store),
    body: `${storeName === undefined ? '' : storeHead(storeName)}
<div class="card">
<h1>${text(`${what}_title`)}</h1>
<p>${text(`${what}_text`)}</p>
</div>`,
  });
}
