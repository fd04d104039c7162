import type { Tx } from '../../platform/db/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { dropUnsentActivation } from '../../transfers/charges/index.ts';
import { lockPaymentMethods } from '../queries.ts';
import { writeRevoked } from './revoke-payment-method.ts';

/**
 * Gives up the mandates of those methods that nothing is charged to any more, unless they may be on the network: we would pay for
 * bringing them there. The methods are revoked, as the payer has signed for nothing else.
 *
 * @param listServed which of them something is charged to; asked while they are locked
 */
export async function dropUnserved(
  tx: Tx,
  { merchantId, methodIds, now }: { merchantId: string; methodIds: readonly string[]; now: MerchantTime },
  listServed: (methodIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  const methods = (await lockPaymentMethods(tx, merchantId, methodIds)).filter(
    ({ activated_at: at, status }) => at === null && status !== 'revoked',
  );
  const served = await listServed(methods.map(({ payment_method_id: id }) => id));
  for (const method of methods) {
    const { payment_method_id: methodId } = method;
    if (!served.has(methodId) && (await dropUnsentActivation(tx, merchantId, methodId, now)))
      await writeRevoked(tx, method, now);
  }
}
