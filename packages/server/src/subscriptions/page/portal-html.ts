import { bdi, rowsHtml, sign } from '../../checkout/index.ts';
import { escapeHtml, type PageAnswer } from '../../platform/http/index.ts';
import type { PortalInvoice, PortalSubscription, PortalView } from './portal-view.ts';
import { htmlTexts, storePage, walletForm } from './subscribe-html.ts';
import { say, type Word } from './words.ts';

/** A button that asks for something; where to is the page's own address. */
function actionForm(
  { token, language }: PortalView,
  {
    action,
    subscription,
    button,
    plain = true,
  }: { action: string; subscription: string; button: string; plain?: boolean },
): string {
  return `<form class="leave" method="post" action="${token}?lang=${language}">
<input type="hidden" name="action" value="${action}"><input type="hidden" name="subscription" value="${subscription}">
<p><button type="submit"${plain ? ' class="plain"' : ''}>${button}</button></p>
</form>`;
}

function subscriptionCard(view: PortalView, own: PortalSubscription): string {
  const { language } = view;
  const t = htmlTexts(language);
  const { id, name, price, status, dates, wallet, isOver, problem, due } = own;
  const rows: [string, string][] = [
    [say(language, 'price'), bdi(price)],
    [say(language, 'status'), t(status)],
    ...dates.map(([word, day]): [string, string] => [say(language, word), bdi(day)]),
    ...(isOver ? [] : [walletRow(view, wallet)]),
  ];
  const note = problem === null ? '' : `<p class="note warn">${t(problem)}</p>`;
  const pay = due === null || isOver ? '' : payHtml(view, own, due);
  return `<section class="card" aria-labelledby="${id}"><h2 id="${id}" dir="auto">${escapeHtml(name)}</h2>
${rowsHtml(rows)}${note}${pay}${isOver ? '' : changesHtml(view, own)}
${own.invoices.length === 0 ? '' : invoicesHtml(view, own)}</section>`;
}

const walletRow = ({ language }: PortalView, wallet: string | null): [string, string] => [
  say(language, 'wallet'),
  wallet === null ? htmlTexts(language)('wallet_yourself') : bdi(wallet),
];

function payHtml(
  view: PortalView,
  { id, wallet }: PortalSubscription,
  { price, payToken }: NonNullable<PortalSubscription['due']>,
): string {
  const { language } = view;
  const t = htmlTexts(language);
  const again =
    wallet === null
      ? ''
      : actionForm(view, {
          action: 'pay',
          subscription: id,
          button: t('pay_again', { price }),
          plain: payToken !== null,
        });
  if (payToken === null) return again;
  return `<p><a class="button" href="../checkout/${payToken}?lang=${language}">${t('pay_page', { price })}</a></p>${again}`;
}

function changesHtml(view: PortalView, own: PortalSubscription): string {
  const { language, token, isTest } = view;
  const t = htmlTexts(language);
  const { id, lastsUntil, isEnding, wallet, options } = own;
  const replace =
    isTest && options.length > 0
      ? `<details class="leave"><summary>${t(wallet === null ? 'replace_first' : 'replace_title')}</summary>${walletForm({ language, options }, { action: `${token}/wallet`, hidden: { subscription: id } })}</details>`
      : '';
  const keep = isEnding
    ? actionForm(view, { action: 'keep', subscription: id, button: t('keep_button') })
    : '';
  const cancel =
    lastsUntil === null
      ? ''
      : actionForm(view, { action: 'cancel', subscription: id, button: t('cancel_button') });
  return `${replace}${keep}${cancel}`;
}

function invoicesHtml(view: PortalView, { invoices }: PortalSubscription): string {
  const t = htmlTexts(view.language);
  const rows = invoices.map((invoice): [string, string] => [invoice.day, invoiceHtml(view, invoice)]);
  return `<details class="leave"><summary>${t('invoices_title')}</summary>${rowsHtml(rows)}</details>`;
}

function invoiceHtml(
  { language, token }: PortalView,
  { id, price, status, payToken }: PortalInvoice,
): string {
  const t = htmlTexts(language);
  const text = `${bdi(price)} · ${t(`invoice_${status}`)}`;
  if (status === 'paid')
    return `${text} · <a href="${token}/receipts/${id}?lang=${language}">${t('receipt')}</a>`;
  if (payToken === null) return text;
  return `${text} · <a href="../checkout/${payToken}?lang=${language}">${t('pay_page', { price })}</a>`;
}

function backHtml({ language, returnUrl, storeName: store }: PortalView): string {
  const href = escapeHtml(returnUrl);
  return `<p class="center leave"><a href="${href}" rel="noreferrer">${htmlTexts(language)('return', { store })}</a></p>`;
}

/** @param refused what an action could not do */
export function portalHtml(view: PortalView, refused?: Word, status = 400): PageAnswer {
  const { language, storeName: store, subscriptions } = view;
  const t = htmlTexts(language);
  const alert =
    refused === undefined
      ? ''
      : `<div class="note bad" role="alert"><b>${t('refused_title')}</b>${t(refused)}</div>`;
  const stopped = view.isSuspended
    ? `<div class="note warn"><b>${t('suspended_title', { store })}</b>${t('suspended_text')}</div>`
    : '';
  const none = subscriptions.length === 0 ? `<p>${t('portal_none')}</p>` : '';
  const cards = subscriptions.map((own) => subscriptionCard(view, own)).join('');
  return storePage(view, {
    title: say(language, 'portal_title', { store }),
    body: `<section class="card"><h1>${t('portal_title', { store })}</h1>${stopped}${alert}${none}</section>${cards}${backHtml(view)}`,
    ...(refused === undefined ? {} : { status }),
  });
}

/** Asks once more: what is canceled is not renewed. */
export function cancelHtml(view: PortalView, { id, name, lastsUntil }: PortalSubscription): PageAnswer {
  const { language, token } = view;
  const t = htmlTexts(language);
  return storePage(view, {
    title: say(language, 'cancel_title'),
    body: `<section class="card"><h1>${t('cancel_title')}</h1>
<p dir="auto"><b>${escapeHtml(name)}</b></p><p>${t('cancel_text', { date: lastsUntil ?? '' })}</p>
<form method="post" action="${token}?lang=${language}">
<input type="hidden" name="action" value="cancel"><input type="hidden" name="subscription" value="${id}">
<input type="hidden" name="sure" value="yes"><p><button type="submit">${t('cancel_yes')}</button></p>
</form>
<a class="button plain" href="${token}?lang=${language}">${t('cancel_no')}</a></section>`,
  });
}

/** What a receipt says; values are HTML. */
export function receiptHtml(
  view: Pick<PortalView, 'language' | 'storeName' | 'isTest' | 'token'>,
  rows: readonly (readonly [Word, string])[],
): PageAnswer {
  const { language, token } = view;
  const t = htmlTexts(language);
  return storePage(view, {
    title: say(language, 'receipt'),
    body: `<section class="card">${sign('good')}<h1 class="center">${t('receipt')}</h1>
${rowsHtml(rows.map(([word, html]) => [say(language, word), html]))}
<p class="center"><a href="../../${token}?lang=${language}">${t('back')}</a></p></section>`,
  });
}
