import type { Customer } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import { encodeId } from '../tenancy/index.ts';
import type { CustomerRow } from './queries.ts';

/** Finds the default payment methods of customers, by their UUIDs; implemented by a module above this one. */
export type DefaultMethods = (
  db: Db,
  merchantId: string,
  customerIds: readonly string[],
) => Promise<ReadonlyMap<string, string>>;

/** @param methodId the UUID of its default payment method, if it has one */
export function presentCustomer(row: CustomerRow, methodId: string | undefined): Customer {
  const { email, name, phone, description } = row;
  return {
    id: encodeId('customer', row.customer_id),
    object: 'customer',
    merchant_id: encodeId('merchant', row.merchant_id),
    external_customer_id: row.external_customer_id,
    ...(email === null ? {} : { email }),
    ...(name === null ? {} : { name }),
    ...(phone === null ? {} : { phone }),
    ...(methodId === undefined ? {} : { default_payment_method: encodeId('paymentMethod', methodId) }),
    ...(description === null ? {} : { description }),
    created: Number(row.created_at),
  };
}

/** Returns a presenter for these customers, with their default payment methods read in one statement. */
export async function customerPresenter(
  db: Db,
  rows: readonly CustomerRow[],
  defaultMethods: DefaultMethods,
): Promise<(row: CustomerRow) => Customer> {
  const [first] = rows;
  if (first === undefined) return (row) => presentCustomer(row, undefined);
  const methods = await defaultMethods(
    db,
    first.merchant_id,
    rows.map((row) => row.customer_id),
  );
  return (row) => presentCustomer(row, methods.get(row.customer_id));
}
