import { languageOf, readOption } from '../checkout/page/index.ts';
import { Fail } from '../platform/fail.ts';
import { TokenBuckets } from '../platform/http/index.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  seeOther,
} from '../platform/http/pages/index.ts';
import { type SubscriptionDeps, type SubscriptionForm, subscriptionForms } from '../subscriptions/index.ts';
import { authorizeMandate } from './authorize-mandate.ts';

/** Rate limit per page, for a person who clicks. */
const CLICKS = { perSecond: 1, burst: 20 };
const BUCKETS_MAX = 1_000;

/**
 * The simulated wallet of subscription pages: one click gives a mandate, and a due invoice is charged, at the pace of the
 * merchant's clock, which no visitor can move. Live merchants' pages have none of this.
 */
export function walletPages(deps: SubscriptionDeps): PublicPage[] {
  const buckets = new TokenBuckets(CLICKS.perSecond, CLICKS.burst, BUCKETS_MAX);
  return subscriptionForms(deps, 'wallet', async (form, request) => {
    if (form.caller.mode !== 'sandbox') return undefined;
    buckets.takeOrRefuse(form.id, deps.clock.nowMs(), 'Too many clicks on this page.');
    // A suspended merchant's page shows that nothing can be started.
    if (!form.isSuspended) await connect(deps, form, formOf(request).get('option') ?? '');
    return back(request);
  });
}

/** A refused mandate changes nothing, and the page shows that. */
async function connect(
  deps: SubscriptionDeps,
  { caller, id, capOf }: SubscriptionForm,
  text: string,
): Promise<void> {
  try {
    const { currency, network } = readOption(text);
    const cap = await capOf(currency);
    const body = { currency, network, ...(cap === undefined ? {} : { cap: Number(cap) }) };
    await authorizeMandate(deps, caller, { id, body, mines: false });
  } catch (error) {
    if (!(error instanceof Fail)) throw error;
    deps.log.warn({ err: error }, 'a simulated wallet was refused');
  }
}

/** A relative redirect works below any path prefix of a proxy. */
function back(request: PageRequest): PageAnswer {
  const location = `../${request.params.token ?? ''}?lang=${languageOf(request)}`;
  return seeOther(location);
}
