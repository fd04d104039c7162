import { languageOf } from '../../checkout/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import {
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  TokenBuckets,
} from '../../platform/http/index.ts';
import { SUBSCRIBE_PATH } from '../page-token.ts';
import { findSubscribePage, type SubscribePage } from './find-subscribe-page.ts';
import { sayingPage, subscribeHtml } from './subscribe-html.ts';
import { readSubscribeView } from './subscribe-view.ts';

/** Calls of one page: whoever has its address may ask as often as a few people with a bad connection. */
const READS = { perSecond: 2, burst: 60 };
const BUCKETS_MAX = 10_000;
const BUSY_SECONDS = '60';

/** Who asks too often is told so in words; all others get undefined. */
export function pageLimits({ clock }: Pick<PaymentDeps, 'clock'>) {
  const buckets = new TokenBuckets(READS.perSecond, READS.burst, BUCKETS_MAX);
  return (request: PageRequest, key: string): PageAnswer | undefined => {
    if (buckets.take(key, clock.nowMs()) === 0) return undefined;
    const answer = sayingPage(languageOf(request), 'busy', { status: 429 });
    return { ...answer, headers: { ...answer.headers, 'retry-after': BUSY_SECONDS } };
  };
}

/** The same for every address that opens nothing, whatever is wrong with it. */
export function missingPage(request: PageRequest): PageAnswer {
  return sayingPage(languageOf(request), 'missing', { status: 404 });
}

/** The pages on which payers begin a subscription. Unsigned: their address is their key. */
export function subscribePages(deps: PaymentDeps): PublicPage[] {
  const limit = pageLimits(deps);
  return [
    {
      path: `${SUBSCRIBE_PATH}/{token}`,
      handle: async (request) => {
        const page = await findSubscribePage(deps.db, request.params.token ?? '');
        if (page === undefined) return missingPage(request);
        return limit(request, page.subscription.subscription_id) ?? (await show(deps, page, request));
      },
    },
  ];
}

async function show(deps: PaymentDeps, page: SubscribePage, request: PageRequest): Promise<PageAnswer> {
  const { merchant, storeName, token } = page;
  const language = languageOf(request);
  const view = await readSubscribeView(deps, page, language);
  if (merchant.isSuspended && view.state === 'choose')
    return sayingPage(language, 'suspended', { status: 403, storeName });
  return subscribeHtml(view, token);
}
