import {
  CheckoutSessionList,
  CheckoutSessionQuery,
  PaymentList,
  PaymentQuery,
} from '@florin/contract/schemas';
import type { PaymentDeps } from '../payments/index.ts';
import { listPayments, showPayments } from '../payments/reads/index.ts';
import { cursorOf, pageOf } from '../platform/db/lists/index.ts';
import { invariant } from '../platform/fail.ts';
import { defineList, type Route } from '../platform/http/index.ts';
import { cursorIdOf } from '../tenancy/index.ts';
import { presentSession } from './present.ts';
import { getSession, readSessions, type SessionRow } from './session-queries.ts';
import { paymentStatusOf } from './session-status.ts';

const tag = 'Checkout';

/** Lists of a store's sessions, and of its payments, charges included. */
export function listRoutes(deps: PaymentDeps, urlOf: (session: SessionRow) => string): Route[] {
  return [paymentList(deps), sessionList(deps, urlOf)];
}

const paymentList = (deps: PaymentDeps) =>
  defineList({
    path: '/api/v1/payments',
    operationId: 'listPayments',
    tag,
    summary: 'List the payments of the store, newest first',
    description: 'Those of sessions and links, and the charges of mandates.',
    query: PaymentQuery,
    answer: PaymentList,
    refusals: [],
    read: async ({ caller, query }, { after, ...slice }) => {
      const page = { ...slice, after: cursorIdOf('payment', after) };
      const rows = await listPayments(deps.db, caller, query, page);
      return pageOf(await showPayments(deps, caller, rows), page, (payment) => payment);
    },
  });

const sessionList = (deps: PaymentDeps, urlOf: (session: SessionRow) => string) =>
  defineList({
    path: '/api/v1/checkout/sessions',
    operationId: 'listCheckoutSessions',
    tag,
    summary: 'List the payment sessions of the store, newest first',
    query: CheckoutSessionQuery,
    answer: CheckoutSessionList,
    refusals: [],
    read: async ({ caller, query: { status, ...query } }, { after, ...slice }) => {
      const behind = await cursorOf(after, (id) => getSession(deps.db, caller, id));
      const rows = await listPayments(
        deps.db,
        caller,
        { ...query, status: status && paymentStatusOf(status) },
        { ...slice, after: behind?.payment_id, ofSessions: true },
      );
      const ids = rows.flatMap(({ session_id: id }) => id ?? []);
      const sessions = await readSessions(deps.db, caller.merchantId, ids);
      return pageOf(rows, slice, (payment) => {
        const session = sessions.get(payment.session_id ?? '');
        invariant(session !== undefined, 'the session of a payment is there');
        return presentSession(session, payment, urlOf(session));
      });
    },
  });
