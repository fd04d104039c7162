import {
  NoFields,
  PaymentMethod,
  PaymentMethodList,
  PaymentMethodPath,
  PaymentMethodQuery,
  PaymentMethodUpdateInput,
} from '@florin/contract/schemas';
import { findCustomerId } from '../customers/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { createdRange, pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import type { PaymentMethodDeps } from './deps.ts';
import { revokePaymentMethod } from './mandates/revoke-payment-method.ts';
import { presentPaymentMethod } from './present.ts';
import { getPaymentMethod, listPaymentMethods, updatePaymentMethod } from './queries.ts';

const PATH = '/api/v1/payment_methods';
const tag = 'Payment methods';

function readRoutes(deps: PaymentMethodDeps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/payment_method/{payment_method_id}',
      operationId: 'retrievePaymentMethod',
      tag,
      summary: 'Read a payment method',
      scope: 'read',
      params: PaymentMethodPath,
      answer: PaymentMethod,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentPaymentMethod(
          await getPaymentMethod(deps.db, caller.merchantId, params.payment_method_id),
        ),
      }),
    }),
    defineList({
      path: PATH,
      operationId: 'listPaymentMethods',
      tag,
      summary: 'List the payment methods of the merchant, newest first',
      query: PaymentMethodQuery,
      answer: PaymentMethodList,
      refusals: [],
      read: async ({ caller: { merchantId }, query }, slice) => {
        const { customer, status, currency, network } = query;
        const created = createdRange(query);
        // An unknown customer becomes the nil id, which matches no method.
        const customerId = customer && ((await findCustomerId(deps.db, merchantId, customer)) ?? NIL_ID);
        const filter = { customerId, status, currency, network, created };
        const rows = await listPaymentMethods(deps.db, merchantId, filter, slice);
        return pageOf(rows, slice, presentPaymentMethod);
      },
    }),
  ];
}

function writeRoutes(deps: PaymentMethodDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/{payment_method_id}/update`,
      operationId: 'updatePaymentMethod',
      tag,
      summary: 'Change the metadata of a payment method',
      scope: 'write',
      params: PaymentMethodPath,
      body: PaymentMethodUpdateInput,
      answer: PaymentMethod,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const method = await getPaymentMethod(deps.db, caller.merchantId, params.payment_method_id);
        if (body.metadata === undefined) return { body: presentPaymentMethod(method) };
        const { metadata } = body;
        return { body: presentPaymentMethod(await updatePaymentMethod(deps.db, method, { metadata })) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{payment_method_id}/revoke`,
      operationId: 'revokePaymentMethod',
      tag,
      summary: 'Charge a payment method no more',
      description:
        'For good. A charge that is on its way is kept; what the wallet allows only its payer can take back.',
      scope: 'write',
      params: PaymentMethodPath,
      body: NoFields,
      answer: PaymentMethod,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentPaymentMethod(await revokePaymentMethod(deps, caller, params.payment_method_id)),
      }),
    }),
  ];
}

/** Payment methods belong to the merchant: the keys of all its stores see the same ones. */
export function paymentMethodRoutes(deps: PaymentMethodDeps): Route[] {
  return [...readRoutes(deps), ...writeRoutes(deps)];
}
