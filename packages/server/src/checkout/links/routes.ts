import {
  PaymentLink,
  PaymentLinkChange,
  PaymentLinkInput,
  PaymentLinkList,
  PaymentLinkPath,
  PaymentLinkQuery,
} from '@florin/contract/schemas';
import type { PaymentDeps } from '../../payments/index.ts';
import { pageOf } from '../../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../../platform/http/index.ts';
import { createPaymentLink } from './create-payment-link.ts';
import { presentLink } from './present.ts';
import { getLink, listLinks, setLinkActive } from './queries.ts';

const PATH = '/api/v1/payment_links';
const tag = 'Payment links';

function writeRoutes(deps: PaymentDeps, publicUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: PATH,
      operationId: 'createPaymentLink',
      tag,
      summary: 'Create a payment link',
      description:
        'A page of the store that anybody may open, as often as they like: each use makes a checkout session whose metadata names the link.',
      scope: 'write',
      idempotencyKey: 'optional',
      body: PaymentLinkInput,
      answer: PaymentLink,
      refusals: ['parameter_missing', 'conflict'],
      handle: async ({ caller, body, idempotencyKey }) => {
        const { link, replayed } = await createPaymentLink(deps, { caller, body, idempotencyKey });
        return { body: presentLink(link, publicUrl()), replayed };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{payment_link_id}/update`,
      operationId: 'updatePaymentLink',
      tag,
      summary: 'Switch a payment link off or on',
      description: 'Sessions that it has made go on.',
      scope: 'write',
      params: PaymentLinkPath,
      body: PaymentLinkChange,
      answer: PaymentLink,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const link = await getLink(deps.db, caller, params.payment_link_id);
        const { active = link.active } = body;
        const changed = active === link.active ? link : await setLinkActive(deps.db, link, active);
        return { body: presentLink(changed, publicUrl()) };
      },
    }),
  ];
}

function readRoutes(deps: PaymentDeps, publicUrl: () => string): Route[] {
  return [
    defineList({
      path: PATH,
      operationId: 'listPaymentLinks',
      tag,
      summary: 'List the payment links of the store, newest first',
      query: PaymentLinkQuery,
      answer: PaymentLinkList,
      refusals: [],
      read: async ({ caller }, slice) =>
        pageOf(await listLinks(deps.db, caller, slice), slice, (row) => presentLink(row, publicUrl())),
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{payment_link_id}`,
      operationId: 'retrievePaymentLink',
      tag,
      summary: 'Read a payment link',
      scope: 'read',
      params: PaymentLinkPath,
      answer: PaymentLink,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentLink(await getLink(deps.db, caller, params.payment_link_id), publicUrl()),
      }),
    }),
  ];
}

/** @param publicUrl the base URL of payers' pages */
export function paymentLinkRoutes(deps: PaymentDeps, publicUrl: () => string): Route[] {
  return [...writeRoutes(deps, publicUrl), ...readRoutes(deps, publicUrl)];
}
