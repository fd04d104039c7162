import type { PortalCancelView, PortalSubscription, PortalView } from '@florin/pages';
import { languageOf, payerPages } from '../../checkout/page/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  seeOther,
} from '../../platform/http/pages/index.ts';
import { cancelSubscription } from '../cancel-subscription.ts';
import type { SubscriptionDeps } from '../deps.ts';
import { payInvoice } from '../pay-invoice.ts';
import { updateSubscription } from '../update-subscription.ts';
import { findPortal, PORTAL_PATH, type Portal } from './portal-session.ts';
import { readPortalView } from './portal-view.ts';
import { readReceipt } from './receipt.ts';
import { languageRead, missingPage, pageLimits } from './subscribe-pages.ts';

const PATH = `${PORTAL_PATH}/{token}`;

/**
 * The pages on which customers see and change their subscriptions. Their address is the credential, for a limited time.
 */
export function portalPages(deps: SubscriptionDeps): PublicPage[] {
  const limit = pageLimits(deps);
  const withPortal = async (request: PageRequest, show: (portal: Portal) => Promise<PageAnswer>) => {
    const portal = await findPortal(deps, request.params.token ?? '');
    if (portal === undefined) return await missingPage(request);
    if (portal.isOver)
      return await payerPages.noticeAnswer(request, 'portal_over', { status: 410, store: portal });
    return (await limit(request, portal.session.portal_session_id)) ?? (await show(portal));
  };
  return [
    {
      path: PATH,
      handle: (request) =>
        withPortal(request, async (portal) => {
          const reader = { merchant: portal.merchant, customerId: portal.session.customer_id };
          const language = await languageRead(deps, reader, request);
          return await payerPages.payerAnswer(await readPortalView(deps, portal, language));
        }),
    },
    {
      method: 'POST',
      path: PATH,
      handle: (request) => withPortal(request, (portal) => act(deps, portal, request)),
    },
    {
      path: `${PATH}/receipts/{invoice_id}`,
      handle: (request) =>
        withPortal(request, async (portal) => {
          const language = languageOf(request);
          const receipt = await readReceipt(deps, portal, { id: request.params.invoice_id ?? '', language });
          return await (receipt === undefined ? missingPage(request) : payerPages.payerAnswer(receipt));
        }),
    },
  ];
}

const viewOf = (deps: SubscriptionDeps, portal: Portal, request: PageRequest) =>
  readPortalView(deps, portal, languageOf(request));

/** Allows only actions that the customer's page offers, so never one on another customer's subscription. */
async function act(deps: SubscriptionDeps, portal: Portal, request: PageRequest): Promise<PageAnswer> {
  const form = formOf(request);
  const view = await viewOf(deps, portal, request);
  if (portal.merchant.isSuspended) return await refusedPage(view, 'refused_text', 403);
  const own = view.subscriptions.find(({ id }) => id === form.get('subscription'));
  const action = form.get('action');
  if (own === undefined || action === null) return await refusedPage(view, 'refused_text');
  if (action === 'cancel' && own.lastsUntil !== null && form.get('sure') !== 'yes')
    return await payerPages.payerAnswer(cancelView(view, own, own.lastsUntil));
  try {
    await carryOut(deps, portal, { action, own });
  } catch (error) {
    if (!(error instanceof Fail) || error.code !== 'invalid_request') throw error;
    return await refusedPage(await viewOf(deps, portal, request), refusalOf(error));
  }
  return seePortal(view);
}

type Refusal = NonNullable<PortalView['refused']>;

const refusedPage = (view: PortalView, refused: Refusal, status = 400): Promise<PageAnswer> =>
  payerPages.payerAnswer({ ...view, refused }, { status });

function cancelView(
  { language, storeName, brand, isTest, token }: PortalView,
  { id, items }: PortalSubscription,
  lastsUntil: string,
): PortalCancelView {
  return { page: 'portal_cancel', language, storeName, brand, isTest, token, id, items, lastsUntil };
}

const refusalOf = (error: Fail): Refusal =>
  error.details.declineCode === undefined ? 'refused_text' : 'refused_declined';

/** @throws Fail `invalid_request` */
async function carryOut(
  deps: SubscriptionDeps,
  { caller }: Portal,
  { action, own: { id, due } }: { action: string; own: PortalSubscription },
): Promise<unknown> {
  switch (action) {
    case 'cancel':
      return await cancelSubscription(deps, caller, { id, body: { cancel_at_period_end: true } });
    case 'keep':
      return await updateSubscription(deps, caller, { id, body: { cancel_at: null } });
    case 'pay':
      if (due !== null) return await payInvoice(deps, caller, due.invoiceId);
  }
  throw new Fail('invalid_request', 'The portal does nothing of that name now.');
}

/** The address is relative, for proxies with a path. */
const seePortal = ({ token, language }: PortalView) => seeOther(`${token}?lang=${language}`);
