import { builtPage } from '@florin/pages';
import type { CheckoutView } from '@florin/contract/checkout-page';
import { ASSETS, NETWORKS } from '@florin/contract/money';
import type { PaymentOption } from '@florin/contract/schemas';
import type { PaymentDeps } from '../../payments/index.ts';
import { chooseOption } from '../../payments/index.ts';
import { isUnavailable } from '../../platform/db/index.ts';
import { Fail, type FailCode } from '../../platform/fail.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../platform/http/index.ts';
import { formOf, pageHeaders, TokenBuckets } from '../../platform/http/index.ts';
import { compressed, takesGzip } from './compressed.ts';
import { type FoundPage, findPage } from './find-page.ts';
import { languageOf, queryOf } from './language.ts';
import { LivePages } from './live-pages.ts';
import { readPage } from './read-page.ts';
import { payerPage } from './shell.ts';

const PATH = '/checkout';
export const PAGE_PATH = `${PATH}/{token}`;
/** Calls of one page: whoever has its address may ask as often as a few people with a bad connection. */
const READS = { perSecond: 5, burst: 60 };
const BUCKETS_MAX = 10_000;
const YEAR_SECONDS = 31_536_000;
/** What of an answer's code a person's browser is told. */
const TROUBLE: Partial<Record<FailCode, number>> = {
  invalid_request: 400,
  rate_limited: 429,
  service_unavailable: 503,
};

/** The pages on which payers pay, with what they ask for while they are open. Unsigned: their address is their key. */
export function checkoutPages(deps: PaymentDeps): PublicPage[] {
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
        kindly(deps, request, async () => {
          const page = await open(request);
          return page === undefined ? await notFoundPage(request) : await htmlOf(deps, page, request);
        }),
    },
    {
      method: 'POST',
      path: PAGE_PATH,
      handle: (request) =>
        kindly(deps, request, async () => {
          const page = await open(request);
          if (page === undefined) return await notFoundPage(request);
          const choice = readOption(formOf(request).get('option') ?? '');
          // The page then says that nothing can be paid.
          if (!page.merchant.isSuspended) await chooseOption(deps, page.merchant, page.session, choice);
          return await afterForm(deps, page, request);
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

/** Builds the page ahead of the first payer; nobody waits for it. */
export function preparePages({ log }: Pick<PaymentDeps, 'log'>): void {
  builtPage().catch((error: unknown) => log.error({ err: error }, "the payers' page cannot be built"));
}

async function htmlOf(deps: PaymentDeps, page: FoundPage, request: PageRequest): Promise<PageAnswer> {
  const language = languageOf(request);
  const [built, read] = await Promise.all([builtPage(), readPage(deps, page, language)]);
  if (read === undefined) return await notFoundPage(request);
  const wantsChoice = queryOf(request, 'choose') === '1' && read.canChoose;
  const view: CheckoutView = wantsChoice ? { ...read, state: 'choose' } : read;
  const { title, body, data } = built.render(view, page.token);
  const { name, integrity } = built.script;
  // Relative, so that the service may stand below any path of a proxy.
  return compressed(
    request,
    payerPage({ language, title, body, script: { path: `assets/${name}`, integrity, data } }),
  );
}

/** The same for every address that opens nothing, whatever is wrong with it. */
export async function notFoundPage(request: PageRequest): Promise<PageAnswer> {
  const language = languageOf(request);
  const { title, body } = (await builtPage()).say(language, 'not_found');
  return payerPage({ status: 404, language, title, body });
}

/** Answers a person whose page cannot be shown in words, and not with an error of the API. */
async function kindly(
  deps: PaymentDeps,
  request: PageRequest,
  answer: () => Promise<PageAnswer>,
): Promise<PageAnswer> {
  try {
    return await answer();
  } catch (error) {
    if (wantsJson(request)) throw error;
    const status = error instanceof Fail ? TROUBLE[error.code] : undefined;
    if (status === undefined) deps.log.error({ err: error }, "a payer's page cannot be shown");
    const language = languageOf(request);
    const { title, body } = (await builtPage()).say(language, 'trouble');
    return payerPage({ status: status ?? (isUnavailable(error) ? 503 : 500), language, title, body });
  }
}

/** What a form is answered: the page's script gets what is to be shown now, a plain browser is led back to the page. */
export async function afterForm(
  deps: PaymentDeps,
  page: FoundPage,
  request: PageRequest,
): Promise<PageAnswer> {
  const language = languageOf(request);
  if (wantsJson(request)) return jsonAnswer(request, await readPage(deps, page, language));
  const up = request.url.split('?')[0]?.endsWith(page.token) ? '' : '../';
  const location = `${up}${page.token}?lang=${language}`;
  return { status: 303, type: 'text/plain', headers: { ...pageHeaders({}), location }, body: '' };
}

export const wantsJson = ({ headers }: PageRequest): boolean => headers.accept === 'application/json';

function jsonAnswer(request: PageRequest, view: CheckoutView | undefined): PageAnswer {
  const type = 'application/json; charset=utf-8';
  return compressed(request, { status: 200, type, headers: pageHeaders({}), body: JSON.stringify(view) });
}

/** `USDT:trc20`, as forms send it. @throws Fail `invalid_request` */
export function readOption(text: string): PaymentOption {
  const [currency, network] = text.split(':');
  const option = {
    currency: ASSETS.find((a) => a === currency),
    network: NETWORKS.find((n) => n === network),
  };
  if (option.currency !== undefined && option.network !== undefined) return option as PaymentOption;
  throw new Fail('invalid_request', { message: 'Choose one of the options.', param: 'option' });
}

async function assetOf(request: PageRequest): Promise<PageAnswer> {
  const { files } = await builtPage();
  const file = files.get(request.params.file ?? '');
  if (file === undefined) throw new Fail('resource_not_found', 'There is nothing at this path.');
  const isZipped = takesGzip(request);
  return {
    status: 200,
    type: 'text/javascript; charset=utf-8',
    headers: {
      ...pageHeaders({}),
      // Its name holds the hash of what is in it.
      'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
      vary: 'accept-encoding',
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    },
    body: isZipped ? file.gzip : file.body,
  };
}
