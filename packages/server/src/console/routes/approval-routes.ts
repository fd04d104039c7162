import { PayoutBatch, Refund } from '@florin/contract/schemas';
import Type, { type Static } from 'typebox';
import { decideApproval } from '../../payouts/approvals/index.ts';
import { listBatches, presentBatch } from '../../payouts/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { type Caller, defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { decideRefund, findByOwnId, listAwaitingApproval } from '../../refunds/approvals/index.ts';
import { presentRefund, type RefundDeps } from '../../refunds/index.ts';
import { approverOf } from '../../stores/approvers/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { userOf } from './own.ts';

/** Payouts and refunds take the same. */
export type ApprovalDeps = ConsoleDeps & RefundDeps;

const PATH = '/console/api/merchants/{merchant_id}';
const SHOWN_MAX = 100;
const common = { scope: 'read' as const, tag: 'Approvals' };
const Decision = Type.Object({
  decision: Type.Union([Type.Literal('approved'), Type.Literal('rejected')]),
});
const decides = { name: 'approve', isProofFresh: true } as const;

/** Who decides, for a merchant that is not suspended. @throws Fail `forbidden`, `conflict` */
async function approverFor(
  deps: ApprovalDeps,
  request: Pick<RouteRequest<unknown, unknown, unknown>, 'caller'>,
): Promise<string> {
  const { caller } = request;
  const { status } = await getMerchant(deps.db, caller.merchantId);
  if (status !== 'active') throw new Fail('forbidden', 'This merchant is suspended.');
  const { userId } = userOf(request);
  const { email } = await users.getUser(deps.db, userId);
  return await approverOf(deps, caller, { userId, email });
}

/** The oldest first. */
async function waitingFor(deps: ApprovalDeps, { merchantId }: Caller) {
  const batches = await listBatches(deps.db, merchantId, { status: 'pending_approval', limit: SHOWN_MAX });
  const refunds = await listAwaitingApproval(deps.db, merchantId, SHOWN_MAX);
  return {
    payout_batches: batches.slice(0, SHOWN_MAX).map(presentBatch).toReversed(),
    // Where the money of a refund can be claimed is not what its approvers need.
    refunds: refunds.map((refund) => presentRefund(refund, null)),
  };
}

const Waiting = Type.Object({ payout_batches: Type.Array(PayoutBatch), refunds: Type.Array(Refund) });
export type Waiting = Static<typeof Waiting>;

/** What waits for approval, and the decisions of people who are signed in. */
export const approvalRoutes = (deps: ApprovalDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: `${PATH}/approvals`,
    operationId: 'listApprovals',
    summary: 'Payout batches and refunds that wait for approval, the oldest first',
    permission: { name: 'see' },
    params: Type.Object({ merchant_id: Type.String() }),
    answer: Waiting,
    refusals: [],
    handle: async ({ caller }) => ({ body: await waitingFor(deps, caller) }),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/payout-batches/{batch_id}/decision`,
    operationId: 'decidePayoutBatch',
    summary: 'Approve a payout batch, or reject it, which releases its money',
    permission: decides,
    params: Type.Object({ merchant_id: Type.String(), batch_id: Type.String() }),
    body: Decision,
    answer: PayoutBatch,
    refusals: ['resource_not_found', 'conflict'],
    handle: async (request) => {
      const { caller, params, body } = request;
      const batchId = decodeId('payoutBatch', params.batch_id) ?? NIL_ID;
      const approverId = await approverFor(deps, request);
      return { body: await decideApproval(deps, caller, { batchId, approverId, ...body }) };
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/refunds/{refund_id}/decision`,
    operationId: 'decideRefund',
    summary: 'Approve a refund, or reject it, which releases its money',
    permission: decides,
    params: Type.Object({ merchant_id: Type.String(), refund_id: Type.String() }),
    body: Decision,
    answer: Refund,
    refusals: ['resource_not_found', 'conflict'],
    handle: async (request) => {
      const { caller, params, body } = request;
      const { refundId } = await findByOwnId(deps.db, params.refund_id, caller.merchantId);
      const approverId = await approverFor(deps, request);
      const decided = await decideRefund(deps, caller, { refundId, approverId, verdict: body.decision });
      return { body: presentRefund(decided.refund, null) };
    },
  }),
];
