import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { checkPlainText } from '../platform/http/index.ts';
import { findCustomer, upsertCustomer } from './queries.ts';

/** The prefix of our own ids. */
export const OWN_PREFIX = 'cus_';

/** Checks that a merchant's id does not begin like ours, as some calls accept either. @throws Fail `invalid_request` */
export function checkExternalId(externalId: string, param: string): void {
  if (!externalId.startsWith(OWN_PREFIX)) return;
  const message = `${param} is your own id of the customer and may not begin with ${OWN_PREFIX}.`;
  throw new Fail('invalid_request', { message, param });
}

export interface NamedCustomer {
  merchantId: string;
  externalId: string;
  email?: string | undefined;
  name?: string | undefined;
  phone?: string | undefined;
  /** The merchant's clock. */
  nowSeconds: number;
}

/**
 * Creates the customer of a request if it is new, in the request's transaction. Empty fields of an existing customer are
 * filled; set ones are never overwritten.
 *
 * @throws Fail `invalid_request` with param `customer` for a new customer whose id has invisible characters
 */
export async function ensureCustomer(tx: Tx, customer: NamedCustomer): Promise<void> {
  const { merchantId, externalId, email = null, name = null, phone = null } = customer;
  const known = await findCustomer(tx, merchantId, externalId);
  const brings = { email, name, phone };
  const isComplete =
    known !== undefined &&
    (['email', 'name', 'phone'] as const).every((field) => known[field] !== null || brings[field] === null);
  // Without the write, concurrent sessions of one customer do not wait for its row.
  if (isComplete) return;
  // Customers from before this rule keep their ids.
  if (known === undefined) checkPlainText(externalId, 'customer');
  await upsertCustomer(tx, {
    merchant_id: merchantId,
    customer_id: newId(),
    external_customer_id: externalId,
    ...brings,
    description: null,
    created_at: customer.nowSeconds,
  });
}
