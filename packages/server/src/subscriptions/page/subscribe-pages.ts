import type { PageLanguage } from '@florin/pages';
import { isLanguageChosen, languageOf, payerPages } from '../../checkout/page/index.ts';
import { rememberLanguage } from '../../customers/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import { TokenBuckets } from '../../platform/http/index.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../platform/http/pages/index.ts';
import { SUBSCRIBE_PATH } from '../page-token.ts';
import { findSubscribePage, type SubscribePage } from './find-subscribe-page.ts';
import { readSubscribeView } from './subscribe-view.ts';

/** Request limit of one page: enough for a few people with a bad connection. */
const READS = { perSecond: 2, burst: 60 };
const BUCKETS_MAX = 10_000;
const BUSY_SECONDS = '60';
/** The page reloads itself this often while the payer has nothing to do. */
const RELOAD_SECONDS = '5';

/** Returns an error page for a caller above the limit; else undefined. */
export function pageLimits({ clock }: Pick<PaymentDeps, 'clock'>) {
  const buckets = new TokenBuckets(READS.perSecond, READS.burst, BUCKETS_MAX);
  return async (request: PageRequest, key: string): Promise<PageAnswer | undefined> => {
    if (buckets.take(key, clock.nowMs()) === 0) return undefined;
    return await payerPages.noticeAnswer(request, 'subscription_busy', {
      status: 429,
      headers: { 'retry-after': BUSY_SECONDS },
    });
  };
}

/** Returns the language of a request. The customer's mails are written in it, too; a suspended merchant's stay as they were. */
export async function languageRead(
  { db }: Pick<PaymentDeps, 'db'>,
  { merchant, customerId }: { merchant: { merchantId: string; isSuspended: boolean }; customerId: string },
  request: PageRequest,
): Promise<PageLanguage> {
  const language = languageOf(request);
  if (merchant.isSuspended) return language;
  const reader = { merchantId: merchant.merchantId, customerId };
  await rememberLanguage(db, reader, { language, isChosen: isLanguageChosen(request) });
  return language;
}

/** The same page for every invalid address, for any reason. */
export const missingPage = (request: PageRequest): Promise<PageAnswer> =>
  payerPages.noticeAnswer(request, 'subscription_missing', { status: 404 });

/** The pages on which payers begin a subscription. Their address is the credential. */
export function subscribePages(deps: PaymentDeps): PublicPage[] {
  const limit = pageLimits(deps);
  return [
    {
      path: `${SUBSCRIBE_PATH}/{token}`,
      handle: async (request) => {
        const page = await findSubscribePage(deps.db, request.params.token ?? '');
        if (page === undefined) return await missingPage(request);
        const busy = await limit(request, page.subscription.subscription_id);
        return busy ?? (await show(deps, page, request));
      },
    },
  ];
}

async function show(deps: PaymentDeps, page: SubscribePage, request: PageRequest): Promise<PageAnswer> {
  const { merchant, subscription } = page;
  const reader = { merchant, customerId: subscription.customer_id };
  const view = await readSubscribeView(deps, page, await languageRead(deps, reader, request));
  if (merchant.isSuspended && view.state === 'choose')
    return await payerPages.noticeAnswer(request, 'subscription_suspended', { status: 403, store: page });
  return await payerPages.payerAnswer(view, {
    headers: view.state === 'confirming' ? { refresh: RELOAD_SECONDS } : {},
  });
}
