import type { PaymentOption } from '@florin/contract/schemas';
import { builtPages, type CheckoutView, choosingOf, isAutoReturn } from '@florin/pages';
import type { PaymentDeps } from '../../payments/index.ts';
import { chooseOption, parseOption } from '../../payments/index.ts';
import { isUnavailable } from '../../platform/db/index.ts';
import { Fail, type FailCode } from '../../platform/fail.ts';
import { TokenBuckets } from '../../platform/http/index.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../platform/http/pages/index.ts';
import {
  acceptsGzip,
  CACHED_FOREVER,
  formOf,
  pageHeaders,
  seeOther,
} from '../../platform/http/pages/index.ts';
import { noticeAnswer, payerAnswer } from './answer.ts';
import { compressed } from './compressed.ts';
import { type FoundPage, findPage } from './find-page.ts';
import { languageOf, searchOf } from './language.ts';
import { LivePages } from './live-pages.ts';
import { readPage } from './read-page.ts';

const PATH = '/checkout';
const PAGE_PATH = `${PATH}/{token}`;
/** Rate limit per page: enough for a few people with a bad connection. */
const READS = { perSecond: 5, burst: 60 };
const BUCKETS_MAX = 10_000;
/** HTTP status of the error page, by error code; others are 500. */
const PAGE_STATUS: Partial<Record<FailCode, number>> = {
  invalid_request: 400,
  rate_limited: 429,
  service_unavailable: 503,
};

/** The payers' pages with their state, events and assets. Requests are unsigned: the token in the URL authorizes them. */
export function sessionPages(deps: PaymentDeps): PublicPage[] {
  const live = new LivePages(deps);
  const buckets = new TokenBuckets(READS.perSecond, READS.burst, BUCKETS_MAX);
  const open = async (request: PageRequest) => {
    const page = await findPage(deps.db, request.params.token ?? '');
    if (page !== undefined)
      buckets.takeOrRefuse(page.session.session_id, deps.clock.nowMs(), 'Too many requests for this page.');
    return page;
  };
  return [
    {
      path: PAGE_PATH,
      handle: (request) =>
        withHtmlErrors(deps, request, async () => {
          const page = await open(request);
          return page === undefined ? await notFoundPage(request) : await htmlOf(deps, page, request);
        }),
    },
    {
      method: 'POST',
      path: PAGE_PATH,
      handle: (request) =>
        withHtmlErrors(deps, request, async () => {
          const page = await open(request);
          if (page === undefined) return await notFoundPage(request);
          const choice = readOption(formOf(request).get('option') ?? '');
          // A suspended merchant's page shows that nothing can be paid.
          const session = { ...page.session, language: languageOf(request) };
          if (!page.merchant.isSuspended) await chooseOption(deps, page.merchant, session, choice);
          return await answerForm(deps, page, request);
        }),
    },
    {
      path: `${PAGE_PATH}/state`,
      handle: async (request) => {
        const page = await open(request);
        if (page === undefined) return await notFoundPage(request);
        return jsonAnswer(request, await readPage(deps, page, languageOf(request)));
      },
    },
    {
      path: `${PAGE_PATH}/events`,
      handle: async (request) => {
        const page = await open(request);
        if (page === undefined) return await notFoundPage(request);
        return { status: 200, type: 'text/event-stream', body: live.open(page, languageOf(request)) };
      },
    },
    { path: `${PATH}/assets/{file}`, handle: (request) => assetOf(request) },
  ];
}

/** A form that a payer's browser sent from a session's page. */
export interface SessionForm {
  page: FoundPage;
  request: PageRequest;
  /** Sent by the page's script, which shows refusals; a plain browser is redirected. */
  wantsJson: boolean;
}

/**
 * An additional form on the page of a session.
 *
 * @param name the last part of its path
 * @param handle false for a page that has no such form
 */
export const sessionForm = (
  deps: PaymentDeps,
  name: string,
  handle: (form: SessionForm) => Promise<boolean>,
): PublicPage => ({
  method: 'POST',
  path: `${PAGE_PATH}/${name}`,
  handle: async (request) => {
    const page = await findPage(deps.db, request.params.token ?? '');
    const isHandled = page !== undefined && (await handle({ page, request, wantsJson: wantsJson(request) }));
    return await (isHandled ? answerForm(deps, page, request) : notFoundPage(request));
  },
});

async function htmlOf(deps: PaymentDeps, page: FoundPage, request: PageRequest): Promise<PageAnswer> {
  const language = languageOf(request);
  const view = await readPage(deps, page, language);
  if (view === undefined) return await notFoundPage(request);
  const query = searchOf(request);
  const choosing = view.canChoose ? choosingOf(query) : null;
  const shown = {
    page: 'checkout',
    view,
    token: page.token,
    choosing,
    isAutoReturn: isAutoReturn(query),
  } as const;
  return compressed(request, await payerAnswer(shown));
}

/** The same answer for every invalid token. */
const notFoundPage = (request: PageRequest): Promise<PageAnswer> =>
  noticeAnswer(request, 'checkout_missing', { status: 404 });

/** Answers errors with an HTML page instead of the API's JSON. */
async function withHtmlErrors(
  deps: PaymentDeps,
  request: PageRequest,
  answer: () => Promise<PageAnswer>,
): Promise<PageAnswer> {
  try {
    return await answer();
  } catch (error) {
    if (wantsJson(request)) throw error;
    const status = error instanceof Fail ? PAGE_STATUS[error.code] : undefined;
    if (status === undefined) deps.log.error({ err: error }, "a payer's page cannot be shown");
    const answered = status ?? (isUnavailable(error) ? 503 : 500);
    return await noticeAnswer(request, 'checkout_trouble', { status: answered });
  }
}

/** Answers a form: the page's script gets the new view as JSON, a plain browser is redirected to the page. */
async function answerForm(deps: PaymentDeps, page: FoundPage, request: PageRequest): Promise<PageAnswer> {
  const language = languageOf(request);
  if (wantsJson(request)) return jsonAnswer(request, await readPage(deps, page, language));
  const up = request.url.split('?')[0]?.endsWith(page.token) ? '' : '../';
  const kept = isAutoReturn(searchOf(request)) ? '&return=auto' : '';
  return seeOther(`${up}${page.token}?lang=${language}${kept}`, pageHeaders({}));
}

const wantsJson = ({ headers }: PageRequest): boolean => headers.accept === 'application/json';

function jsonAnswer(request: PageRequest, view: CheckoutView | undefined): PageAnswer {
  const type = 'application/json; charset=utf-8';
  return compressed(request, { status: 200, type, headers: pageHeaders({}), body: JSON.stringify(view) });
}

/** `USDT:trc20`, as forms send it. @throws Fail `invalid_request` */
export function readOption(text: string): PaymentOption {
  const option = parseOption(text);
  if (option !== undefined) return option;
  throw new Fail('invalid_request', { message: 'Choose one of the options.', param: 'option' });
}

async function assetOf(request: PageRequest): Promise<PageAnswer> {
  const { files } = await builtPages();
  const file = files.get(request.params.file ?? '');
  if (file === undefined) throw new Fail('resource_not_found', 'There is nothing at this path.');
  const isZipped = acceptsGzip(request);
  return {
    status: 200,
    type: 'text/javascript; charset=utf-8',
    headers: {
      ...pageHeaders({}),
      // The file name contains the hash of its content.
      'cache-control': CACHED_FOREVER,
      vary: 'accept-encoding',
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    },
    body: isZipped ? file.gzip : file.body,
  };
}
