import type { Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { decodeId } from '../../tenancy/index.ts';
import '../tables.ts';

/** Finds a payment by its id alone, for operators' commands. @throws Fail `resource_not_found` */
export async function findPaymentOwner(
  db: Db,
  text: string,
): Promise<{ merchantId: string; paymentId: string }> {
  const paymentId = decodeId('payment', text);
  const row =
    paymentId &&
    (await db
      .selectFrom('payment')
      .select('merchant_id')
      .where('payment_id', '=', paymentId)
      .executeTakeFirst());
  if (!row) throw new Fail('resource_not_found', `There is no payment ${text}.`);
  return { merchantId: row.merchant_id, paymentId };
}
