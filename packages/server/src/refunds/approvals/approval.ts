import { createHash, timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../platform/db/index.ts';
import { invariant } from '../../platform/fail.ts';
import type { JobSpec } from '../../platform/jobs/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { requiredApprovals } from '../../transfers/approvals/index.ts';
import type { RefundSettings } from '../deps.ts';
import { expireApprovalJob, sendJob } from '../jobs.ts';
import type { RefundRow } from '../queries.ts';
import { awaitsApproval } from '../states.ts';
import { unapprovedRefunds, unsignedRefunds } from './approval-queries.ts';

type Bound = Pick<RefundRow, 'merchant_id' | 'refund_id' | 'currency' | 'network' | 'amount'> & {
  address: string;
};
type AddressColumns = Pick<
  RefundRow,
  'address' | 'addressed_at' | 'required_approvals' | 'required_signatures' | 'approval_digest'
>;

/** The digest that an approval is bound to: SHA-256 over amount and address. */
function digestOf({ refund_id, currency, network, amount, address }: Bound): Buffer {
  const line = JSON.stringify([refund_id, currency, network, String(amount), address]);
  return createHash('sha256').update(line).digest();
}

/** Checks that the refund still matches its stored digest; otherwise it is neither approved nor sent. */
export function boundDigest(refund: RefundRow): Buffer {
  const { address, approval_digest: kept } = refund;
  invariant(address !== null && kept !== null, 'a refund that needs approval has an address and a digest');
  const now = digestOf({ ...refund, address });
  invariant(timingSafeEqual(now, kept), 'amount and address are those that wait for approval');
  return now;
}

/** Columns of a refund whose payer has not named the address yet; it cannot be approved. */
export const UNADDRESSED: AddressColumns = {
  address: null,
  addressed_at: null,
  required_approvals: 0,
  required_signatures: null,
  approval_digest: null,
};

/**
 * The columns of a refund whose address is known now, including how many people have to approve it. Concurrent refunds
 * are serialized, so each one's limit includes those before it. The caller holds the payment's lock.
 *
 * @throws Fail `service_unavailable` while the signer of live money does not answer
 */
export async function addressColumns(
  tx: Tx,
  refund: Bound,
  {
    settings,
    time,
    signerRule,
  }: { settings: RefundSettings; time: MerchantTime; signerRule: requiredApprovals.SignerRule },
): Promise<AddressColumns> {
  const { merchant_id: merchantId, amount, address } = refund;
  const outflow = { merchantId, kind: 'refunds', amount, nowSeconds: time.seconds } as const;
  const sums = { unapproved: unapprovedRefunds, unsigned: unsignedRefunds };
  const rule = signerRule;
  const { approvals, signatures } = await requiredApprovals.decideRequired(tx, outflow, {
    settings,
    rule,
    sums,
  });
  return {
    address,
    addressed_at: time.seconds,
    required_approvals: approvals,
    required_signatures: signatures,
    approval_digest: approvals > 0 ? digestOf(refund) : null,
  };
}

/** The next job of a refund with an address: it is sent after its delay, or canceled if nobody approves it. */
export function nextJob(refund: RefundRow, time: MerchantTime, { delaySeconds }: RefundSettings): JobSpec {
  return awaitsApproval(refund) ? expireApprovalJob(refund, time) : sendJob(refund, time, delaySeconds);
}
