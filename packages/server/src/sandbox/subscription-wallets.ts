import { languageOf, readOption } from '../checkout/index.ts';
import { Fail } from '../platform/fail.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  seeOther,
  TokenBuckets,
} from '../platform/http/index.ts';
import {
  findPortal,
  findSubscribePage,
  getSubscription,
  mandateCap,
  missingPage,
  PORTAL_PATH,
  type StoreCaller,
  SUBSCRIBE_PATH,
  type SubscriptionDeps,
} from '../subscriptions/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { authorizeMandate } from './authorize-mandate.ts';

/** Rate limit per page, for a person who clicks. */
const CLICKS = { perSecond: 1, burst: 20 };
const BUCKETS_MAX = 1_000;

/** A click on the simulated wallet of a page. */
interface Click {
  caller: StoreCaller;
  isSuspended: boolean;
  /** The subscription that gets the mandate. */
  id: string;
}

/**
 * The simulated wallet of subscription pages: one click gives a mandate, and a due invoice is charged, at the pace of the
 * merchant's clock, which no visitor can move. Live merchants' pages have none of this.
 */
export function walletPages(deps: SubscriptionDeps): PublicPage[] {
  const buckets = new TokenBuckets(CLICKS.perSecond, CLICKS.burst, BUCKETS_MAX);
  const page = (path: string, find: (request: PageRequest) => Promise<Click | undefined>): PublicPage => ({
    method: 'POST',
    path: `${path}/{token}/wallet`,
    handle: async (request) => {
      const click = await find(request);
      if (click?.caller.mode !== 'sandbox') return await missingPage(request);
      buckets.takeOrRefuse(click.id, deps.clock.nowMs(), 'Too many clicks on this page.');
      // A suspended merchant's page shows that nothing can be started.
      if (!click.isSuspended) await connect(deps, click, formOf(request).get('option') ?? '');
      return back(request);
    },
  });
  return [
    page(SUBSCRIBE_PATH, (request) => fromSubscribePage(deps, request)),
    page(PORTAL_PATH, (request) => fromPortal(deps, request)),
  ];
}

async function fromSubscribePage(
  deps: SubscriptionDeps,
  { params }: PageRequest,
): Promise<Click | undefined> {
  const page = await findSubscribePage(deps.db, params.token ?? '');
  if (page === undefined) return undefined;
  const { merchant, storeId, subscription } = page;
  const id = encodeId('subscription', subscription.subscription_id);
  return { caller: { ...merchant, storeId }, isSuspended: merchant.isSuspended, id };
}

async function fromPortal(deps: SubscriptionDeps, request: PageRequest): Promise<Click | undefined> {
  const portal = await findPortal(deps, request.params.token ?? '');
  const id = formOf(request).get('subscription');
  if (portal === undefined || portal.isOver || id === null) return undefined;
  const row = await getSubscription(deps.db, portal.caller, id).catch((error: unknown) => {
    if (error instanceof Fail) return undefined;
    throw error;
  });
  const { caller, merchant, session } = portal;
  if (row?.customer_id !== session.customer_id) return undefined;
  return { caller, isSuspended: merchant.isSuspended, id };
}

/** A refused mandate changes nothing, and the page shows that. */
async function connect(deps: SubscriptionDeps, { caller, id }: Click, text: string): Promise<void> {
  try {
    const { currency, network } = readOption(text);
    const subscription = await getSubscription(deps.db, caller, id);
    const cap = await mandateCap(deps, caller, subscription, currency);
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
