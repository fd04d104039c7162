import { PortalSession, PortalSessionInput } from '@florin/contract/schemas';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import type { SubscriptionDeps } from '../deps.ts';
import { createPortalSession } from './portal-session.ts';

/** @param publicUrl the base address of payers' pages */
export function portalRoutes(deps: SubscriptionDeps, publicUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/portal/sessions',
      operationId: 'createPortalSession',
      tag: 'Subscriptions',
      summary: 'Make a link to the portal of a customer',
      description:
        'Send the customer to `url`: a page on which they see their subscriptions, invoices and receipts at this store, replace the wallet, and cancel. Whoever has the link may do so until it expires.',
      scope: 'write',
      body: PortalSessionInput,
      answer: PortalSession,
      refusals: [],
      handle: async ({ caller, body }) => ({
        body: await createPortalSession(deps, caller, body, publicUrl()),
      }),
    }),
  ];
}
