import type { Customer } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { OWN_PREFIX } from './ensure-customer.ts';
import { customerPresenter, type DefaultMethods } from './present.ts';
import { findCustomer, findCustomerById } from './queries.ts';

/** The customer as callers see it, by the id that other tables hold. */
export async function readCustomer(
  db: Db,
  { merchantId, customerId }: { merchantId: string; customerId: string },
  defaultMethods: DefaultMethods,
): Promise<Customer | undefined> {
  const row = await findCustomerById(db, merchantId, customerId);
  return row && (await customerPresenter(db, [row], defaultMethods))(row);
}

/** The UUID of the customer whom a filter names by either id: the merchant's own, or ours. */
export async function findCustomerId(db: Db, merchantId: string, text: string): Promise<string | undefined> {
  if (text.startsWith(OWN_PREFIX)) return decodeId('customer', text);
  return (await findCustomer(db, merchantId, text))?.customer_id;
}
