import type { Customer, CustomerInput } from '@florin/contract/schemas';
import { newId } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { checkPlainText } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { merchantTime } from '../tenancy/index.ts';
import { checkExternalId } from './ensure-customer.ts';
import { presentCustomer } from './present.ts';
import { insertCustomer } from './queries.ts';

/**
 * Creates a customer.
 *
 * @throws Fail `invalid_request` with param `external_customer_id` for an id that exists, begins like an id of ours, or
 *   has invisible characters
 */
export async function createCustomer(
  platform: Platform,
  caller: Caller,
  input: CustomerInput,
): Promise<Customer> {
  const param = 'external_customer_id';
  checkExternalId(input.external_customer_id, param);
  checkPlainText(input.external_customer_id, param);
  const row = await insertCustomer(platform.db, {
    merchant_id: caller.merchantId,
    customer_id: newId(),
    external_customer_id: input.external_customer_id,
    email: input.email ?? null,
    name: input.name ?? null,
    phone: input.phone ?? null,
    description: input.description ?? null,
    created_at: merchantTime(platform, caller).seconds,
  });
  if (row !== undefined) return presentCustomer(row, undefined);
  const message = 'A customer with this external_customer_id exists. Find it by listing, then update it.';
  throw new Fail('invalid_request', { message, param });
}
