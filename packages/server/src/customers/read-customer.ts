import type { Customer } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { OWN_PREFIX } from './ensure-customer.ts';
import { customerPresenter, type DefaultMethods } from './present.ts';
import { findCustomer, findCustomerById } from './queries.ts';

/** The customer as the API shows it, by its UUID. */
export async function readCustomer(
  db: Db,
  { merchantId, customerId }: { merchantId: string; customerId: string },
  defaultMethods: DefaultMethods,
): Promise<Customer | undefined> {
  const row = await findCustomerById(db, merchantId, customerId);
  return row && (await customerPresenter(db, [row], defaultMethods))(row);
}

/** Finds a customer's UUID by either public id: the merchant's own, or ours. */
export async function findCustomerId(db: Db, merchantId: string, text: string): Promise<string | undefined> {
  if (text.startsWith(OWN_PREFIX)) return decodeId('customer', text);
  return (await findCustomer(db, merchantId, text))?.customer_id;
}
