import type { Db } from '../platform/db/index.ts';
import { prepared } from '../platform/db/statements/index.ts';
import './tables.ts';

/** Those of the customers that have an address for mail. */
export async function customersWithEmail(
  db: Db,
  merchantId: string,
  customerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await prepared<{ customer_id: string }>`
    select customer_id from customer
    where merchant_id = ${merchantId} and customer_id = any(${customerIds}::uuid[]) and email is not null`.execute(
    db,
  );
  return new Set(rows.map((row) => row.customer_id));
}
