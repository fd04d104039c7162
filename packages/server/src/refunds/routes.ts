import {
  ApprovalInput,
  ApprovalSubject,
  NoFields,
  Refund,
  RefundInput,
  RefundList,
  RefundPath,
  RefundQuery,
} from '@florin/contract/schemas';
import { pageOf } from '../platform/db/lists/index.ts';
import { type Caller, defineList, defineRoute, type Route } from '../platform/http/index.ts';
import { signedApprovals } from '../transfers/approvals/index.ts';
import { refundStatement } from './approvals/authority.ts';
import { decideRefund } from './approvals/decide-approval.ts';
import { cancelRefund } from './cancel-refund.ts';
import { CLAIM_PATH, claimToken } from './claim-link.ts';
import { createRefund } from './create-refund.ts';
import type { RefundDeps } from './deps.ts';
import { listRefunds, readRefundFilter } from './list-refunds.ts';
import { awaitsClaim, presentRefund } from './present.ts';
import { getRefund, type RefundRow } from './queries.ts';

const PATH = '/api/v1/refunds';
const tag = 'Refunds';

/** Whoever has the link of a refund names where its money goes: not whoever may only look. */
const maySeeLink = ({ actor, scopes }: Caller) =>
  actor.kind === 'key' ? scopes.includes('refunds') : actor.permissions.includes('refund');

/** A refund as callers see it, including its claim link. */
export function showRefund(
  { vault }: Pick<RefundDeps, 'vault'>,
  refund: RefundRow,
  publicUrl: string,
): Refund {
  const { claim_secret } = refund;
  const isOpen = awaitsClaim(refund) && claim_secret !== null;
  const url = isOpen ? `${publicUrl}${CLAIM_PATH}/${claimToken(vault, { ...refund, claim_secret })}` : null;
  return presentRefund(refund, url);
}

/** @param publicUrl the base URL of payers' pages */
export function refundRoutes(deps: RefundDeps, publicUrl: () => string): Route[] {
  const present = (refund: RefundRow, caller: Caller) =>
    maySeeLink(caller) ? showRefund(deps, refund, publicUrl()) : presentRefund(refund, null);
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/create`,
      operationId: 'createRefund',
      tag,
      summary: 'Refund a payment, or a part of it',
      description:
        'Sets the money aside and sends it to address, to the proved wallet that sent it, or to where the payer says behind claim_url; above a limit of approval once it is approved. The same refund_id again answers the first refund.',
      scope: 'refunds',
      alwaysCommits: true,
      body: RefundInput,
      answer: Refund,
      refusals: ['resource_not_found', 'conflict', 'insufficient_balance', 'daily_refund_limit_exceeded'],
      handle: async ({ caller, body }) => {
        const { refund, replayed } = await createRefund(deps, caller, body);
        return { body: present(refund, caller), replayed };
      },
    }),
    defineList({
      path: PATH,
      operationId: 'listRefunds',
      tag,
      summary: 'List the refunds of the store, newest first',
      query: RefundQuery,
      answer: RefundList,
      refusals: [],
      idOf: ({ refund_id }) => refund_id,
      read: async ({ caller, query }, slice) => {
        const rows = await listRefunds(deps.db, caller, readRefundFilter(query, caller), slice);
        return pageOf(rows, slice, (row) => present(row, caller));
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{refund_id}`,
      operationId: 'retrieveRefund',
      tag,
      summary: 'Read a refund',
      scope: 'read',
      params: RefundPath,
      answer: Refund,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: present(await getRefund(deps.db, caller, params.refund_id), caller),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{refund_id}/cancel`,
      operationId: 'cancelRefund',
      tag,
      summary: 'Cancel a refund that is pending',
      description: 'Its money goes back to where the money of the payment lies.',
      scope: 'refunds',
      params: RefundPath,
      body: NoFields,
      answer: Refund,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: present(await cancelRefund(deps, caller, params.refund_id), caller),
      }),
    }),
    ...approvalRoutes(deps, present),
  ];
}

function approvalRoutes(deps: RefundDeps, present: (refund: RefundRow, caller: Caller) => Refund): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${PATH}/{refund_id}/statement`,
      operationId: 'retrieveRefundStatement',
      tag,
      summary: 'Read what the approvers of a refund of real money sign',
      scope: 'read',
      params: RefundPath,
      answer: ApprovalSubject,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const { merchant_id, refund_id } = await getRefund(deps.db, caller, params.refund_id);
        return { body: await refundStatement(deps.db, merchant_id, refund_id) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{refund_id}/approve`,
      operationId: 'approveRefund',
      tag,
      summary: "Approve a refund of real money with an approver's signature",
      description:
        'The signature identifies the approver, who has registered its key. It is checked and kept for the signer that pays the refund, also after enough have approved.',
      scope: 'refunds',
      alwaysCommits: true,
      params: RefundPath,
      body: ApprovalInput,
      answer: Refund,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const { refund_id: refundId } = await getRefund(deps.db, caller, params.refund_id);
        const { approver, valid_until: validUntil, signature } = body;
        const given = { approver, validUntil, signature };
        const by = await signedApprovals.findSigner(deps.db, caller.merchantId, given);
        const decided = await decideRefund(deps, caller, { refundId, ...by, verdict: 'approved' });
        return { body: present(decided.refund, caller) };
      },
    }),
  ];
}
