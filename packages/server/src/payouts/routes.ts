import {
  ApprovalInput,
  ApprovalSubject,
  NoFields,
  PayoutBatch,
  PayoutBatchInput,
  PayoutBatchList,
  PayoutBatchPath,
  PayoutBatchQuery,
  PayoutItem,
  PayoutItemInput,
  PayoutItemList,
  PayoutItemPath,
  PayoutItemQuery,
} from '@florin/contract/schemas';
import { createdRange, pageOf } from '../platform/db/lists/index.ts';
import { Fail } from '../platform/fail.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import { cursorIdOf } from '../tenancy/index.ts';
import { signedApprovals } from '../transfers/approvals/index.ts';
import { payoutStatement } from './approvals/authority.ts';
import { decideApproval } from './approvals/decide-approval.ts';
import { cancelPayoutBatch } from './cancel-payout-batch.ts';
import { createPayoutBatch } from './create-payout-batch.ts';
import type { PayoutDeps } from './deps.ts';
import { deletePayoutItem, updatePayoutItem } from './edit-payout-items.ts';
import { PAYOUT_PATH } from './error-format.ts';
import { presentBatch, presentItem } from './present.ts';
import { batchIdOf, getBatch, getItem, listBatches, listItems } from './queries.ts';
import { submitPayoutBatch } from './submit-payout-batch.ts';

const tag = 'Payouts';

/** The only invalid body with an error code of its own. */
function checkHasItems(body: unknown): void {
  const items = typeof body === 'object' && body !== null && 'items' in body ? body.items : undefined;
  if (Array.isArray(items) && items.length === 0) {
    throw new Fail('batch_empty_items', { message: 'A batch has at least one item.', param: 'items' });
  }
}

function draftRoutes(deps: PayoutDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: PAYOUT_PATH,
      operationId: 'createPayoutBatch',
      tag,
      summary: 'Create a payout batch',
      description:
        'Makes a batch of 1 to 200 items in draft. Items with findings are kept as invalid and named in validation_errors.',
      scope: 'payouts',
      alwaysCommits: true,
      idempotencyKey: 'required',
      body: PayoutBatchInput,
      precheck: checkHasItems,
      answer: PayoutBatch,
      refusals: ['batch_empty_items', 'batch_amount_too_low', 'batch_amount_limit_exceeded', 'conflict'],
      handle: (request) => createPayoutBatch(deps, request),
    }),
  ];
}

function batchReadRoutes(deps: PayoutDeps): Route[] {
  return [
    defineList({
      path: PAYOUT_PATH,
      operationId: 'listPayoutBatches',
      tag,
      summary: 'List payout batches, newest first',
      query: PayoutBatchQuery,
      answer: PayoutBatchList,
      refusals: [],
      idOf: ({ batch_id }) => batch_id,
      read: async ({ caller, query }, slice) => {
        const rows = await listBatches(deps.db, caller.merchantId, {
          ...slice,
          after: cursorIdOf('payoutBatch', slice.after),
          status: query.status,
          currency: query.currency,
          idempotencyKey: query.idempotency_key,
          created: createdRange(query),
        });
        return pageOf(rows, slice, presentBatch);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PAYOUT_PATH}/{batch_id}`,
      operationId: 'retrievePayoutBatch',
      tag,
      summary: 'Read a payout batch',
      scope: 'read',
      params: PayoutBatchPath,
      answer: PayoutBatch,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: presentBatch(await getBatch(deps.db, caller.merchantId, batchIdOf(params.batch_id))),
      }),
    }),
  ];
}

function lifeRoutes(deps: PayoutDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PAYOUT_PATH}/{batch_id}/submit`,
      operationId: 'submitPayoutBatch',
      tag,
      summary: 'Submit a payout batch',
      description:
        'Checks every item again, reserves the balance and queues the batch for sending, above a limit for approval.',
      scope: 'payouts',
      alwaysCommits: true,
      params: PayoutBatchPath,
      body: NoFields,
      answer: PayoutBatch,
      refusals: [
        'resource_not_found',
        'batch_cannot_submit',
        'address_risk_rejected',
        'quota_blocked',
        'insufficient_balance',
        'custody_balance_insufficient',
      ],
      handle: async ({ caller, params }) => ({
        body: await submitPayoutBatch(deps, caller, batchIdOf(params.batch_id)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PAYOUT_PATH}/{batch_id}/cancel`,
      operationId: 'cancelPayoutBatch',
      tag,
      summary: 'Cancel a payout batch',
      description: 'Possible until a worker takes the batch. What it reserved is given back.',
      scope: 'payouts',
      alwaysCommits: true,
      params: PayoutBatchPath,
      body: NoFields,
      answer: PayoutBatch,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: await cancelPayoutBatch(deps, caller, batchIdOf(params.batch_id)),
      }),
    }),
  ];
}

function approvalRoutes(deps: PayoutDeps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${PAYOUT_PATH}/{batch_id}/statement`,
      operationId: 'retrievePayoutBatchStatement',
      tag,
      summary: 'Read what the approvers of a batch of real money sign',
      scope: 'read',
      params: PayoutBatchPath,
      answer: ApprovalSubject,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => ({
        body: await payoutStatement(deps.db, caller.merchantId, batchIdOf(params.batch_id)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PAYOUT_PATH}/{batch_id}/approve`,
      operationId: 'approvePayoutBatch',
      tag,
      summary: "Approve a batch of real money with an approver's signature",
      description:
        'The signature identifies the approver, who has registered its key. It is checked and kept for the signer that pays the batch, also after enough have approved.',
      scope: 'payouts',
      alwaysCommits: true,
      params: PayoutBatchPath,
      body: ApprovalInput,
      answer: PayoutBatch,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const batchId = batchIdOf(params.batch_id);
        await getBatch(deps.db, caller.merchantId, batchId);
        const { approver, valid_until: validUntil, signature } = body;
        const given = { approver, validUntil, signature };
        const by = await signedApprovals.findSigner(deps.db, caller.merchantId, given);
        return { body: await decideApproval(deps, caller, { batchId, ...by, decision: 'approved' }) };
      },
    }),
  ];
}

function itemReadRoutes(deps: PayoutDeps): Route[] {
  return [
    defineList({
      path: `${PAYOUT_PATH}/{batch_id}/items`,
      operationId: 'listPayoutItems',
      tag,
      summary: 'List the items of a batch, in its order',
      params: PayoutBatchPath,
      query: PayoutItemQuery,
      answer: PayoutItemList,
      refusals: ['resource_not_found'],
      idOf: ({ item_id }) => item_id,
      read: async ({ caller, params, query }, { limit, after: id }) => {
        const batch = await getBatch(deps.db, caller.merchantId, batchIdOf(params.batch_id));
        const after = cursorIdOf('payoutItem', id);
        const rows = await listItems(deps.db, caller.merchantId, batch.batch_id, {
          limit,
          after,
          status: query.status,
        });
        return pageOf(rows, { limit }, presentItem);
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PAYOUT_PATH}/{batch_id}/items/{item_id}`,
      operationId: 'retrievePayoutItem',
      tag,
      summary: 'Read an item of a batch',
      scope: 'read',
      params: PayoutItemPath,
      answer: PayoutItem,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params }) => {
        const batch = await getBatch(deps.db, caller.merchantId, batchIdOf(params.batch_id));
        return {
          body: presentItem(await getItem(deps.db, caller.merchantId, batch.batch_id, params.item_id)),
        };
      },
    }),
  ];
}

function itemEditRoutes(deps: PayoutDeps): Route[] {
  return [
    defineRoute({
      method: 'PUT',
      path: `${PAYOUT_PATH}/{batch_id}/items/{item_id}`,
      operationId: 'updatePayoutItem',
      tag,
      summary: 'Replace an item of a batch in draft or needs_fix',
      scope: 'payouts',
      params: PayoutItemPath,
      body: PayoutItemInput,
      answer: PayoutItem,
      refusals: ['resource_not_found', 'batch_amount_too_low', 'batch_amount_limit_exceeded'],
      handle: async ({ caller, params, body }) => ({
        body: await updatePayoutItem(deps, caller, {
          batchId: batchIdOf(params.batch_id),
          itemId: params.item_id,
          input: body,
        }),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PAYOUT_PATH}/{batch_id}/items/{item_id}`,
      operationId: 'deletePayoutItem',
      tag,
      summary: 'Drop an item of a batch in draft or needs_fix',
      scope: 'payouts',
      params: PayoutItemPath,
      answer: PayoutBatch,
      refusals: [
        'resource_not_found',
        'batch_empty_items',
        'batch_amount_too_low',
        'batch_amount_limit_exceeded',
      ],
      handle: async ({ caller, params }) => ({
        body: await deletePayoutItem(deps, caller, {
          batchId: batchIdOf(params.batch_id),
          itemId: params.item_id,
        }),
      }),
    }),
  ];
}

export function payoutRoutes(deps: PayoutDeps): Route[] {
  return [draftRoutes, batchReadRoutes, lifeRoutes, approvalRoutes, itemReadRoutes, itemEditRoutes].flatMap(
    (part) => part(deps),
  );
}
