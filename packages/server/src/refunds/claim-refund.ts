import type { MerchantRef } from '../payments/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { requiredApprovals } from '../transfers/approvals/index.ts';
import { addressColumns, nextJob } from './approvals/approval.ts';
import { checkRefundAddress } from './check-address.ts';
import { claimSecondsLeft } from './claim-link.ts';
import { type RefundDeps, refundSettings } from './deps.ts';
import { mailWaiting } from './mail-refund.ts';
import { lockRefund, type RefundRow, updateRefund } from './queries.ts';

/**
 * Sets the address that the payer named, once, while the link is valid. The refund then waits for approval if it needs one,
 * and for its delay.
 *
 * @throws Fail `invalid_request`: with param `address` if that is invalid, else because the link was used or has expired;
 * `service_unavailable` where the signer of live money does not answer
 */
export async function claimRefund(
  deps: RefundDeps,
  merchant: MerchantRef,
  refundId: string,
  address: string,
): Promise<RefundRow> {
  const settings = await refundSettings(deps, merchant);
  const { allowProgramOwned } = settings;
  const signerRule = await requiredApprovals.readSignerRule(deps.chains, merchant, 'refunds');
  return await transact(deps.db, async (tx) => {
    const row = await getMerchant(tx, merchant.merchantId);
    if (row.status === 'suspended') throw new Fail('forbidden', 'This merchant is suspended.');
    const { refund } = await lockRefund(tx, merchant.merchantId, refundId);
    const time = merchantTime(deps, merchant);
    if (claimSecondsLeft(refund, row, time.seconds) === 0)
      throw new Fail('invalid_request', 'The link of this refund was used or has expired.');
    const { network } = refund;
    await checkRefundAddress(tx, deps, { merchant, network, address, allowProgramOwned });
    const columns = await addressColumns(tx, { ...refund, address }, { settings, time, signerRule });
    const claimed = await updateRefund(tx, refund, columns);
    await enqueue(tx, [nextJob(claimed, time, settings)]);
    await mailWaiting(tx, claimed, time);
    return claimed;
  });
}
