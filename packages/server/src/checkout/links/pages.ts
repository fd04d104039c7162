import { randomBytes } from 'node:crypto';
import type { AmountFault } from '@florin/pages';
import type { PaymentDeps } from '../../payments/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  seeOther,
} from '../../platform/http/pages/index.ts';
import { noticeAnswer, payerAnswer } from '../page/answer.ts';
import { languageOf, queryOf } from '../page/language.ts';
import { LinkLimits } from './limits.ts';
import { type OpenedLink, openLink } from './open-link.ts';
import { payLink } from './pay-link.ts';
import { presentLink } from './present.ts';
import { readAmount } from './read-amount.ts';
import { linkView, posterView, type Typed } from './view.ts';

const PATH = '/pay/{token}';
const ONCE_BYTES = 16;
const ONCE = /^[A-Za-z0-9_-]{22}$/;
const BUSY_SECONDS = '60';

const newOnce = () => randomBytes(ONCE_BYTES).toString('base64url');

/** The pages of a link: a form without script that creates a session and redirects to its page, and a QR code. */
export function paymentLinkPages(deps: PaymentDeps, publicUrl: () => string): PublicPage[] {
  const limits = new LinkLimits(deps.clock);
  return [
    {
      path: PATH,
      handle: async (request) =>
        await withLink(deps, limits, request, async (opened) =>
          formPage(request, opened, { once: newOnce() }),
        ),
    },
    {
      method: 'POST',
      path: PATH,
      handle: async (request) =>
        await withLink(deps, limits, request, async (opened) => {
          if (!limits.mayUse(request.remoteAddress, opened.link.link_id)) return await busyPage(request);
          return await answerForm(deps, opened, request);
        }),
    },
    {
      path: `${PATH}/qr`,
      handle: async (request) =>
        await withLink(deps, limits, request, async (opened) =>
          payerAnswer(posterView(languageOf(request), opened, presentLink(opened.link, publicUrl()).url)),
        ),
    },
  ];
}

/** Opens the link of the URL and calls `answer`, or answers with a page that explains why it cannot be paid. */
async function withLink(
  deps: PaymentDeps,
  limits: LinkLimits,
  request: PageRequest,
  answer: (opened: OpenedLink) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  if (!limits.mayView(request.remoteAddress)) return await busyPage(request);
  const opened = await openLink(deps, request.params.token ?? '');
  if (opened === undefined) return await noticeAnswer(request, 'link_missing', { status: 404 });
  const { isPayable } = opened;
  if (!isPayable) return await noticeAnswer(request, 'link_closed', { status: 410, store: opened });
  try {
    return await answer(opened);
  } catch (error) {
    if (!(error instanceof Fail) || error.code !== 'service_unavailable') throw error;
    deps.log.warn({ err: error }, 'a payment link cannot be paid');
    return await noticeAnswer(request, 'link_unavailable', { status: 503, store: opened });
  }
}

const busyPage = (request: PageRequest) =>
  noticeAnswer(request, 'link_busy', { status: 429, headers: { 'retry-after': BUSY_SECONDS } });

async function formPage(request: PageRequest, opened: OpenedLink, typed: Typed): Promise<PageAnswer> {
  const view = linkView(languageOf(request), opened, typed);
  return await payerAnswer(view, { status: view.fault === null ? 200 : 400 });
}

async function answerForm(deps: PaymentDeps, opened: OpenedLink, request: PageRequest): Promise<PageAnswer> {
  const form = formOf(request);
  const text = (form.get('amount') ?? '').trim();
  const given = form.get('once') ?? '';
  // Each form without a valid nonce is treated as a new one.
  const once = ONCE.test(given) ? given : newOnce();
  const { amount: price, currency } = opened.link;
  const amount = price ?? readAmount(text, currency);
  const again = (fault: AmountFault) => formPage(request, opened, { once, text, fault });
  if (amount === undefined) return await again(text === '' ? 'amount_missing' : 'amount_form');
  const made = await payLink(deps, opened, { amount, once });
  return 'fault' in made ? await again(made.fault) : toSession(made.token, request);
}

/** Redirects by a relative URL, which works below any path prefix of a proxy. */
function toSession(token: string, request: PageRequest): PageAnswer {
  const language = queryOf(request, 'lang') === undefined ? '' : `?lang=${languageOf(request)}`;
  return seeOther(`../checkout/${token}${language}`);
}
