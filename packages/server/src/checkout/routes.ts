import {
  CheckoutSession,
  CheckoutSessionInput,
  CheckoutSessionPath,
  NoFields,
  Payment,
  PaymentAcceptInput,
  PaymentPath,
} from '@florin/contract/schemas';
import { acceptPayment } from '../payments/deposits/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import { type PaymentView, readPayment, showPayment } from '../payments/reads/index.ts';
import type { Caller } from '../platform/http/index.ts';
import { defineRoute, type Route } from '../platform/http/index.ts';
import { cancelCheckoutSession } from './cancel-session.ts';
import { createCheckoutSession } from './create-session.ts';
import { paymentLinkRoutes } from './links/routes.ts';
import { listRoutes } from './list-routes.ts';
import { pageToken } from './page-token.ts';
import { presentSession } from './present.ts';
import { findPaymentId, getSession, type SessionRow } from './session-queries.ts';

const SESSIONS = '/api/v1/checkout/sessions';
const tag = 'Checkout';

function sessionRoutes(deps: PaymentDeps, urlOf: (session: SessionRow) => string): Route[] {
  const present = (session: SessionRow, { payment }: PaymentView) =>
    presentSession(session, payment, urlOf(session));
  return [
    defineRoute({
      method: 'POST',
      path: `${SESSIONS}/create`,
      operationId: 'createCheckoutSession',
      tag,
      summary: 'Create a payment session',
      description:
        'Send the payer to `url`: a page on which the payer chooses a token and network and pays to an address of its own.',
      scope: 'write',
      idempotencyKey: 'optional',
      body: CheckoutSessionInput,
      answer: CheckoutSession,
      refusals: ['conflict'],
      handle: async ({ caller, body, idempotencyKey }) => {
        const { session, view, replayed } = await createCheckoutSession(deps, {
          caller,
          body,
          idempotencyKey,
        });
        return { body: present(session, view), replayed };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${SESSIONS}/{session_id}`,
      operationId: 'retrieveCheckoutSession',
      tag,
      summary: 'Read a payment session',
      scope: 'read',
      params: CheckoutSessionPath,
      answer: CheckoutSession,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const session = await getSession(deps.db, caller, params.session_id);
        return { body: present(session, await readPayment(deps.db, caller.merchantId, session.payment_id)) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${SESSIONS}/{session_id}/cancel`,
      operationId: 'cancelCheckoutSession',
      tag,
      summary: 'Cancel an open payment session',
      description: 'Money that comes afterwards is held: accept or refund it.',
      scope: 'write',
      params: CheckoutSessionPath,
      body: NoFields,
      answer: CheckoutSession,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const session = await getSession(deps.db, caller, params.session_id);
        return { body: present(session, await cancelCheckoutSession(deps, caller, session.payment_id)) };
      },
    }),
  ];
}

function paymentRoutes(deps: PaymentDeps): Route[] {
  const present = (caller: Caller, view: PaymentView) => showPayment(deps, caller, view);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/payment/{payment_id}',
      operationId: 'retrievePayment',
      tag,
      summary: 'Read a payment',
      scope: 'read',
      params: PaymentPath,
      answer: Payment,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const paymentId = await findPaymentId(deps.db, caller, params.payment_id);
        return { body: await present(caller, await readPayment(deps.db, caller.merchantId, paymentId)) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/payment/{payment_id}/accept',
      operationId: 'acceptPayment',
      tag,
      summary: 'Take what was received of a payment as it is',
      scope: 'write',
      params: PaymentPath,
      body: PaymentAcceptInput,
      answer: Payment,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const paymentId = await findPaymentId(deps.db, caller, params.payment_id);
        return { body: await present(caller, await acceptPayment(deps, caller, paymentId, body.tx_id)) };
      },
    }),
  ];
}

/** @param publicUrl the base URL of payers' pages */
export function checkoutRoutes(deps: PaymentDeps, publicUrl: () => string): Route[] {
  const urlOf = (session: SessionRow) => `${publicUrl()}/checkout/${pageToken(session)}`;
  return [
    ...sessionRoutes(deps, urlOf),
    ...paymentRoutes(deps),
    ...listRoutes(deps, urlOf),
    ...paymentLinkRoutes(deps, publicUrl),
  ];
}
