import type { Asset } from '@florin/contract/money';
import { Fail } from '../../platform/fail.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../platform/http/pages/index.ts';
import { formOf } from '../../platform/http/pages/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { StoreCaller, SubscriptionDeps } from '../deps.ts';
import { SUBSCRIBE_PATH } from '../page-token.ts';
import { getSubscription, type SubscriptionRow } from '../queries.ts';
import { findSubscribePage } from './find-subscribe-page.ts';
import { mandateCap } from './mandate-cap.ts';
import { findPortal, PORTAL_PATH } from './portal-session.ts';
import { missingPage } from './subscribe-pages.ts';

/** A form that a payer sent for one subscription from its page or the portal. */
export interface SubscriptionForm {
  caller: StoreCaller;
  isSuspended: boolean;
  /** The API id of the subscription. */
  id: string;
  /** The cap that a mandate from this page requests; undefined while there is no rate. */
  capOf: (token: Asset) => Promise<bigint | undefined>;
}

type Sent = Omit<SubscriptionForm, 'capOf'> & { row: SubscriptionRow };

/**
 * An additional form on both pages of a subscription.
 *
 * @param name the last part of its path
 * @param answer undefined for a page that has no such form
 */
export function subscriptionForms(
  deps: SubscriptionDeps,
  name: string,
  answer: (form: SubscriptionForm, request: PageRequest) => Promise<PageAnswer | undefined>,
): PublicPage[] {
  const page = (path: string, find: (request: PageRequest) => Promise<Sent | undefined>): PublicPage => ({
    method: 'POST',
    path: `${path}/{token}/${name}`,
    handle: async (request) => {
      const sent = await find(request);
      if (sent === undefined) return await missingPage(request);
      const { row, ...form } = sent;
      const capOf = (token: Asset) => mandateCap(deps, form.caller, row, token);
      return (await answer({ ...form, capOf }, request)) ?? (await missingPage(request));
    },
  });
  return [
    page(SUBSCRIBE_PATH, (request) => fromSubscribePage(deps, request)),
    page(PORTAL_PATH, (request) => fromPortal(deps, request)),
  ];
}

async function fromSubscribePage(
  { db }: SubscriptionDeps,
  { params }: PageRequest,
): Promise<Sent | undefined> {
  const page = await findSubscribePage(db, params.token ?? '');
  if (page === undefined) return undefined;
  const { merchant, storeId, subscription: row } = page;
  const id = encodeId('subscription', row.subscription_id);
  return { caller: { ...merchant, storeId }, isSuspended: merchant.isSuspended, id, row };
}

async function fromPortal(deps: SubscriptionDeps, request: PageRequest): Promise<Sent | undefined> {
  const portal = await findPortal(deps, request.params.token ?? '');
  const id = formOf(request).get('subscription');
  if (portal === undefined || portal.isOver || id === null) return undefined;
  const { caller, merchant, session } = portal;
  const row = await getSubscription(deps.db, caller, id).catch((error: unknown) => {
    if (error instanceof Fail) return undefined;
    throw error;
  });
  if (row?.customer_id !== session.customer_id) return undefined;
  return { caller, isSuspended: merchant.isSuspended, id, row };
}
