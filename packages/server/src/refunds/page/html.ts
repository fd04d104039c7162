import type { PageLanguage } from '@florin/contract/checkout-page';
import { formatTokens } from '@florin/contract/money';
import type { RefundStatus } from '@florin/contract/schemas';
import { bdi, exact, payerPage, rowsHtml, sign, storeHead } from '../../checkout/index.ts';
import { escapeHtml, type PageAnswer } from '../../platform/http/index.ts';
import { awaitsClaim } from '../present.ts';
import type { RefundRow } from '../queries.ts';
import { awaitsApproval } from '../states.ts';
import { CLAIM_WORDS, type ClaimWords } from './words.ts';

export type AddressError = keyof ClaimWords['errors'];

/** What a claim page shows. */
export interface ClaimView {
  language: PageLanguage;
  storeName: string;
  isSandbox: boolean;
  refund: RefundRow;
}

const amountText = ({ amount, currency }: Pick<RefundRow, 'amount' | 'currency'>) =>
  `${formatTokens(amount)} ${currency}`;

/** HTML of a text with what it names. */
function filled(text: string, { refund, storeName }: ClaimView, words: ClaimWords): string {
  return escapeHtml(text)
    .replaceAll('{amount}', () => `<b>${bdi(amountText(refund))}</b>`)
    .replaceAll('{network}', () => bdi(words.networks[refund.network]))
    .replaceAll('{store}', () => bdi(storeName));
}

interface Card {
  status?: number;
  title: string;
  /** HTML. */
  body: string;
}

function page(view: ClaimView, words: ClaimWords, { status = 200, title, body }: Card): PageAnswer {
  const head = storeHead(view.storeName, view.isSandbox ? words.test : undefined);
  return payerPage({
    status,
    language: view.language,
    title: `${title} – ${view.storeName}`,
    body: `${head}<section class="card">${body}</section>`,
  });
}

function detailRows({ refund }: ClaimView, words: ClaimWords): string {
  const { address, tx_id: txId } = refund;
  return rowsHtml([
    [words.amount, bdi(amountText(refund))],
    [words.network, bdi(words.networks[refund.network])],
    ...(address === null ? [] : [[words.address, exact(address)] as const]),
    ...(txId === null ? [] : [[words.transaction, exact(txId)] as const]),
  ]);
}

/** Asks where the money goes. The form is sent to the page's own address, language included. */
export function askPage(view: ClaimView, given = '', error?: AddressError): PageAnswer {
  const words = CLAIM_WORDS[view.language];
  const fill = (text: string) => filled(text, view, words);
  const problem =
    error === undefined
      ? ''
      : `<p class="note bad" id="error" role="alert"><b>${escapeHtml(words.errorTitle)}</b>${fill(words.errors[error])}</p>`;
  const marks =
    error === undefined
      ? 'aria-describedby="hint"'
      : 'aria-invalid="true" aria-describedby="error hint" autofocus';
  return page(view, words, {
    status: error === undefined ? 200 : 400,
    title: words.title,
    body: `<h1>${escapeHtml(words.title)}</h1>
<p>${fill(words.lead)}</p>
${problem}
<form method="post" action="?lang=${view.language}">
<label class="text" for="address">${fill(words.label)}</label>
<input type="text" id="address" name="address" dir="ltr" value="${escapeHtml(given)}" required maxlength="256"
 autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" ${marks}>
<p class="small quiet" id="hint">${fill(words.hint)}</p>
<p class="small">${escapeHtml(words.once)}</p>
<button type="submit">${escapeHtml(words.next)}</button>
</form>`,
  });
}

/** Shows the address once more before it counts: nobody can take the money back from a wrong one. */
export function checkPage(view: ClaimView, address: string): PageAnswer {
  const words = CLAIM_WORDS[view.language];
  return page(view, words, {
    title: words.checkTitle,
    body: `<h1>${escapeHtml(words.checkTitle)}</h1>
<p>${escapeHtml(words.checkText)}</p>
<dl class="field"><dt>${escapeHtml(words.address)}</dt><dd class="address"><bdi>${escapeHtml(address)}</bdi></dd></dl>
${detailRows(view, words)}
<form method="post" action="?lang=${view.language}">
<p><button type="submit">${escapeHtml(words.send)}</button></p>
<input type="hidden" name="address" value="${escapeHtml(address)}">
<input type="hidden" name="sure" value="yes">
</form>
<a class="button plain" href="?lang=${view.language}">${escapeHtml(words.back)}</a>`,
  });
}

function stateOf(refund: RefundRow): RefundStatus | 'held' {
  if (awaitsApproval(refund)) return 'held';
  // A link that has ended waits for its refund to be canceled.
  return awaitsClaim(refund) ? 'canceled' : refund.status;
}

/** What became of a refund whose link was used, or is over. */
export function statePage(view: ClaimView): PageAnswer {
  const words = CLAIM_WORDS[view.language];
  const shown = {
    held: ['wait', words.heldTitle, words.heldText],
    pending: ['wait', words.wayTitle, words.wayText],
    processing: ['wait', words.wayTitle, words.wayText],
    succeeded: ['good', words.paidTitle, words.paidText],
    failed: ['bad', words.failedTitle, words.failedText],
    canceled: ['bad', words.overTitle, words.overText],
  } as const;
  const [kind, title, text] = shown[stateOf(view.refund)];
  const rows = kind === 'bad' ? '' : detailRows(view, words);
  return page(view, words, {
    title,
    body: `${sign(kind)}<h1 class="center">${escapeHtml(title)}</h1>
<p class="center">${filled(text, view, words)}</p>${rows}`,
  });
}

/** Its merchant is suspended: nobody can say now where the money goes. */
export function suspendedPage(view: ClaimView): PageAnswer {
  const words = CLAIM_WORDS[view.language];
  const title = words.suspendedTitle.replaceAll('{store}', () => view.storeName);
  return page(view, words, {
    status: 403,
    title,
    body: `${sign('bad')}<h1 class="center">${filled(words.suspendedTitle, view, words)}</h1>
<p class="center">${escapeHtml(words.suspendedText)}</p>`,
  });
}

/** The same for a link that never was one and for one whose secret is wrong. */
export function unknownPage(language: PageLanguage): PageAnswer {
  const words = CLAIM_WORDS[language];
  return payerPage({
    status: 404,
    language,
    title: words.unknownTitle,
    body: `<section class="card">${sign('bad')}<h1 class="center">${escapeHtml(words.unknownTitle)}</h1>
<p class="center">${escapeHtml(words.unknownText)}</p></section>`,
  });
}
