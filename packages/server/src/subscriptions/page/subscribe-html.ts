import type { PageLanguage } from '@florin/contract/checkout-page';
import { bdi, payerPage, rowsHtml, type SignKind, sign, storeHead } from '../../checkout/index.ts';
import { escapeHtml, type PageAnswer } from '../../platform/http/index.ts';
import type { SubscribeView, WalletOption } from './subscribe-view.ts';
import { say, type Word } from './words.ts';

/** How often the page looks by itself while the payer has nothing to do. */
const LOOK_SECONDS = '5';

type Text = (word: Word, values?: Readonly<Record<string, string>>) => string;

/** Texts in a language, ready for HTML. */
export const htmlTexts =
  (language: PageLanguage): Text =>
  (word, values) =>
    escapeHtml(say(language, word, values));

/** A page of a store with one card or more. */
export function storePage(
  { language, storeName, isTest }: Pick<SubscribeView, 'language' | 'storeName' | 'isTest'>,
  { title, body, status }: { title: string; body: string; status?: number },
): PageAnswer {
  const head = storeHead(storeName, isTest ? say(language, 'test_mode') : undefined);
  const common = { language, title: `${title} – ${storeName}`, body: `${head}${body}` };
  return payerPage(status === undefined ? common : { ...common, status });
}

/** A choice of token and network with the button of the sandbox's wallet, which gives a mandate by one click. */
export function walletForm(
  { language, options }: { language: PageLanguage; options: readonly WalletOption[] },
  { action, hidden = {} }: { action: string; hidden?: Record<string, string> },
): string {
  const t = htmlTexts(language);
  const radios = options.map(
    ({ value, label }, i) =>
      `<label class="option"><input type="radio" name="option" value="${value}" required${i === 0 ? ' checked' : ''}><span><b>${escapeHtml(label)}</b></span></label>`,
  );
  const fields = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="${action}?lang=${language}">
${fields.join('')}<fieldset><legend>${t('wallet_choose')}</legend>${radios.join('')}</fieldset>
<button type="submit">${t('wallet_simulated')}</button>
</form>`;
}

function chooseBody(view: SubscribeView, token: string): string {
  const {
    language,
    storeName: store,
    cap,
    interval,
    isTest,
    declined,
    invoiceToken,
    freeUntil,
    first,
  } = view;
  const t = htmlTexts(language);
  const problem =
    declined === null
      ? ''
      : `<div class="note bad" role="alert"><b>${t('declined_title')}</b>${t(declined)}</div>`;
  const wallet = isTest
    ? `<p>${t(`wallet_${interval}`, { store, cap })}</p>${walletForm(view, { action: `${token}/wallet` })}`
    : `<p class="note">${t('wallet_none')}</p>`;
  const once =
    invoiceToken === null
      ? ''
      : `<section class="card"><h2>${t('once_title')}</h2><p>${t('once_text')}</p>
<a class="button plain" href="../checkout/${invoiceToken}?lang=${language}">${t('once_button')}</a></section>`;
  return `<section class="card"><h1>${t('title', { store })}</h1>
${subjectHtml(view)}
${freeUntil === null ? '' : `<p class="note good">${t('trial', { date: freeUntil })}</p>`}
${first === null ? '' : `<p>${t('first', first)}</p>`}
${problem}
<h2>${t('wallet_title')}</h2>
${wallet}
${returnHtml(view)}</section>${once}`;
}

function subjectHtml({ price, items, description }: SubscribeView): string {
  const lines = items.map((item) => `<p dir="auto">${escapeHtml(item)}</p>`);
  const more = description === null ? '' : `<p class="small" dir="auto">${escapeHtml(description)}</p>`;
  return `<p class="price">${bdi(price)}</p><div class="subject quiet">${lines.join('')}${more}</div>`;
}

function returnHtml({ language, state, storeName: store, returnUrl }: SubscribeView): string {
  if (returnUrl === null) return '';
  const href = escapeHtml(returnUrl);
  const t = htmlTexts(language);
  if (state === 'done')
    return `<p class="leave"><a class="button" href="${href}" rel="noreferrer">${t('return', { store })}</a></p>`;
  const word = state === 'choose' ? 'return_without' : 'return';
  return `<p class="center leave"><a href="${href}" rel="noreferrer">${t(word, { store })}</a></p>`;
}

const SIGNS: Record<Exclude<SubscribeView['state'], 'choose'>, SignKind> = {
  confirming: 'wait',
  review: 'wait',
  done: 'good',
  ended: 'bad',
  expired: 'bad',
};

function stateBody(view: SubscribeView, state: keyof typeof SIGNS): string {
  const { language, storeName: store, price, items, paidUntil } = view;
  const t = htmlTexts(language);
  const rows = [
    ...items.map((item) => [say(language, 'for'), `<span dir="auto">${escapeHtml(item)}</span>`] as const),
    [say(language, 'price'), bdi(price)] as const,
    [say(language, 'next_payment'), bdi(paidUntil)] as const,
  ];
  const again = `<a class="button plain" href="?lang=${language}">${t('look_again')}</a>`;
  return `<section class="card">${sign(SIGNS[state])}<h1 class="center">${t(`${state}_title`)}</h1>
<p class="center">${t(`${state}_text`, { store })}</p>
${state === 'done' ? rowsHtml(rows) : ''}${state === 'confirming' ? again : ''}
${state === 'confirming' ? '' : returnHtml(view)}</section>`;
}

export function subscribeHtml(view: SubscribeView, token: string): PageAnswer {
  const { language, state, storeName: store } = view;
  if (state === 'choose')
    return storePage(view, { title: say(language, 'title', { store }), body: chooseBody(view, token) });
  const answer = storePage(view, { title: say(language, `${state}_title`), body: stateBody(view, state) });
  if (state !== 'confirming') return answer;
  return { ...answer, headers: { ...answer.headers, refresh: LOOK_SECONDS } };
}

/** A page that only says something. */
export function sayingPage(
  language: PageLanguage,
  what: 'missing' | 'busy' | 'over' | 'suspended',
  { status, storeName = '' }: { status: number; storeName?: string },
): PageAnswer {
  const t = htmlTexts(language);
  return payerPage({
    status,
    language,
    title: say(language, `${what}_title`, { store: storeName }),
    body: `<section class="card">${sign('bad')}<h1 class="center">${t(`${what}_title`, { store: storeName })}</h1>
<p class="center">${t(`${what}_text`, { store: storeName })}</p></section>`,
  });
}
