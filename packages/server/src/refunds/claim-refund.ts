import type { MerchantRef } from '../checkout/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { checkRefundAddress } from './check-address.ts';
import { type RefundDeps, refundSettings } from './deps.ts';
import { sendJob } from './jobs.ts';
import { awaitsClaim } from './present.ts';
import { lockRefund, type RefundRow, updateRefund } from './queries.ts';

/**
 * The payer says where the money goes: once, as long as the link lasts. From then on the refund waits for its delay.
 *
 * @throws Fail `invalid_request`, with param `address` where that is the cause, else as the link is used or over
 */
export async function claimRefund(
  deps: RefundDeps,
  merchant: MerchantRef,
  refundId: string,
  address: string,
): Promise<RefundRow> {
  const { allowProgramOwned, delaySeconds } = await refundSettings(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const { refund } = await lockRefund(tx, merchant.merchantId, refundId);
    const occasion = occasionOf(deps, merchant);
    if (!awaitsClaim(refund) || occasion.seconds >= Number(refund.claim_ends_at ?? 0))
      throw new Fail('invalid_request', 'The link of this refund is used or over.');
    const { network } = refund;
    const { mode } = merchant;
    await checkRefundAddress(tx, deps, { mode, network, address, allowProgramOwned });
    const claimed = await updateRefund(tx, refund, { address });
    await enqueue(tx, [sendJob(refund, occasion, delaySeconds)]);
    return claimed;
  });
}
