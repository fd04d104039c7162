import {
  Customer,
  CustomerChange,
  CustomerInput,
  CustomerList,
  CustomerPath,
  CustomerQuery,
} from '@florin/contract/schemas';
import { pageOf } from '../platform/db/lists/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { createCustomer } from './create-customer.ts';
import { customerPresenter, type DefaultMethods } from './present.ts';
import { type CustomerRow, getCustomer, listCustomers, updateCustomer } from './queries.ts';

const PATH = '/api/v1/customers';
const tag = 'Customers';

/** The customer as the API shows it. */
async function show(platform: Platform, row: CustomerRow, defaultMethods: DefaultMethods): Promise<Customer> {
  return (await customerPresenter(platform.db, [row], defaultMethods))(row);
}

function readRoutes(platform: Platform, defaultMethods: DefaultMethods): Route[] {
  return [
    defineList({
      path: PATH,
      operationId: 'listCustomers',
      tag,
      summary: 'List the customers of the merchant, newest first',
      query: CustomerQuery,
      answer: CustomerList,
      refusals: [],
      read: async ({ caller, query }, slice) => {
        const page = { ...slice, externalId: query.external_customer_id, email: query.email };
        const rows = await listCustomers(platform.db, caller.merchantId, page);
        return pageOf(rows, slice, await customerPresenter(platform.db, rows, defaultMethods));
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{customer_id}`,
      operationId: 'retrieveCustomer',
      tag,
      summary: 'Read a customer',
      scope: 'read',
      params: CustomerPath,
      answer: Customer,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const row = await getCustomer(platform.db, caller.merchantId, params.customer_id);
        return { body: await show(platform, row, defaultMethods) };
      },
    }),
  ];
}

function writeRoutes(platform: Platform, defaultMethods: DefaultMethods): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/create`,
      operationId: 'createCustomer',
      tag,
      summary: 'Create a customer',
      description:
        'Other calls create the customer they name if it is new; this one also takes its other fields. 400 for an id that exists.',
      scope: 'write',
      body: CustomerInput,
      answer: Customer,
      refusals: [],
      handle: async ({ caller, body }) => ({ body: await createCustomer(platform, caller, body) }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{customer_id}/update`,
      operationId: 'updateCustomer',
      tag,
      summary: 'Change what is known of a customer',
      scope: 'write',
      params: CustomerPath,
      body: CustomerChange,
      answer: Customer,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const customer = await getCustomer(platform.db, caller.merchantId, params.customer_id);
        const isNothing = Object.keys(body).length === 0;
        const changed = isNothing ? customer : await updateCustomer(platform.db, customer, body);
        return { body: await show(platform, changed, defaultMethods) };
      },
    }),
  ];
}

/** Customers belong to the merchant: the keys of all its stores see the same ones. */
export function customerRoutes(platform: Platform, defaultMethods: DefaultMethods): Route[] {
  return [...readRoutes(platform, defaultMethods), ...writeRoutes(platform, defaultMethods)];
}
