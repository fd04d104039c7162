import {
  Invoice,
  InvoicePath,
  InvoicePreview,
  NoFields,
  Subscription,
  SubscriptionCancelInput,
  SubscriptionInput,
  SubscriptionPath,
  SubscriptionUpdateInput,
} from '@florin/contract/schemas';
import { presentInvoice } from '../invoices/index.ts';
import { defineRoute, type Route } from '../platform/http/index.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { createSubscription, presentCreated } from './create-subscription.ts';
import type { SubscriptionDeps } from './deps.ts';
import { payInvoice } from './pay-invoice.ts';
import { presentSubscription } from './present.ts';
import { previewSubscriptionUpdate, updateSubscription } from './update-subscription.ts';

const PATH = '/api/v1/subscriptions';
const tag = 'Subscriptions';

/** Routes that change subscriptions. @param publicUrl the base address of payers' pages */
export function writeRoutes(deps: SubscriptionDeps, publicUrl: () => string): Route[] {
  return [createRoute(deps, publicUrl), cancelRoute(deps), ...updateRoutes(deps), payRoute(deps)];
}

function createRoute(deps: SubscriptionDeps, publicUrl: () => string): Route {
  return defineRoute({
    method: 'POST',
    path: `${PATH}/create`,
    operationId: 'createSubscription',
    tag,
    summary: 'Create a subscription with its first invoice',
    description:
      'With payment_method_id the first invoice is charged at once; else checkout_url is where the customer pays it or gives a mandate. The same Idempotency-Key again answers the first subscription as it is now.',
    scope: 'write',
    idempotencyKey: 'required',
    alwaysCommits: true,
    body: SubscriptionInput,
    answer: Subscription,
    refusals: ['conflict'],
    handle: async ({ caller, body, idempotencyKey }) => {
      const created = await createSubscription(deps, { caller, body, idempotencyKey });
      return await presentCreated(deps.db, created, publicUrl());
    },
  });
}

function cancelRoute(deps: SubscriptionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: `${PATH}/{subscription_id}/cancel`,
    operationId: 'cancelSubscription',
    tag,
    summary: 'Cancel a subscription now, at the end of its period or at a time',
    description: 'While money for one of its invoices is on its way it is canceled as soon as that is final.',
    scope: 'write',
    params: SubscriptionPath,
    body: SubscriptionCancelInput,
    answer: Subscription,
    refusals: ['resource_not_found'],
    handle: async ({ caller, params, body }) => ({
      body: presentSubscription(await cancelSubscription(deps, caller, { id: params.subscription_id, body })),
    }),
  });
}

function updateRoutes(deps: SubscriptionDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/{subscription_id}/update`,
      operationId: 'updateSubscription',
      tag,
      summary: 'Change items, payment method, metadata or the planned cancel',
      description:
        'What items that cost more add to the rest of the period is invoiced at once; what cheaper ones leave over is used up by the next invoices.',
      scope: 'write',
      params: SubscriptionPath,
      body: SubscriptionUpdateInput,
      answer: Subscription,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => ({
        body: presentSubscription(
          await updateSubscription(deps, caller, { id: params.subscription_id, body }),
        ),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{subscription_id}/update/preview`,
      operationId: 'previewSubscriptionUpdate',
      tag,
      summary: 'See the invoice that an update would open',
      description: 'At once, or else with the next period. Nothing is changed.',
      scope: 'write',
      params: SubscriptionPath,
      body: SubscriptionUpdateInput,
      answer: InvoicePreview,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => ({
        body: await previewSubscriptionUpdate(deps, caller, { id: params.subscription_id, body }),
      }),
    }),
  ];
}

function payRoute(deps: SubscriptionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/invoices/{invoice_id}/pay',
    operationId: 'payInvoice',
    tag: 'Invoices',
    summary: 'Charge an open invoice now',
    description: 'A charge that could only fail is recorded and refused: decline_code and charge tell of it.',
    scope: 'write',
    params: InvoicePath,
    body: NoFields,
    answer: Invoice,
    refusals: ['resource_not_found'],
    handle: async ({ caller, params }) => ({
      body: presentInvoice(await payInvoice(deps, caller, params.invoice_id)),
    }),
  });
}
