import { formatAmount, type Network } from '@florin/contract/money';
import type { PayoutBatch, PayoutBatchInput } from '@florin/contract/schemas';
import { bodyDigest, claimKey } from '../platform/db/guards/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Answer, Caller } from '../platform/http/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { withAuthor } from '../stores/approvers/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { recordBatchEvent } from './change-batch.ts';
import { checkItems } from './check-items.ts';
import { type PayoutDeps, payoutSettings } from './deps.ts';
import { presentBatch } from './present.ts';
import { type BatchRow, getBatch, insertBatch, totalColumns } from './queries.ts';
import { checkLimits, type Totals, totalsOf } from './states.ts';

const OPERATION = 'payout_batch.create';

export interface CreateRequest {
  caller: Caller;
  body: PayoutBatchInput;
  idempotencyKey: string;
}

/**
 * Creates a batch in `draft`. Findings make items invalid and never refuse the request; the limits of the sum do.
 *
 * @throws Fail `conflict`, `batch_amount_too_low`, `batch_amount_limit_exceeded`
 */
export async function createPayoutBatch(
  deps: PayoutDeps,
  request: CreateRequest,
): Promise<Answer<PayoutBatch>> {
  const { caller, body, idempotencyKey } = request;
  const [first] = body.items;
  if (first === undefined) throw new Fail('batch_empty_items', 'A batch has at least one item.');
  const time = merchantTime(deps, caller);
  const nowSeconds = time.seconds;
  const settings = await payoutSettings(deps, caller);
  const checked = await checkItems(
    body.items.map((input, index) => ({ index, input })),
    {
      ...deps,
      merchant: caller,
      currency: body.currency,
      network: first.network,
      rules: settings,
      stage: 'creation',
    },
  );
  const totals = totalsOf(checked);
  const batchId = newId();
  const claim = {
    merchantId: caller.merchantId,
    storeId: caller.storeId,
    operation: OPERATION,
    key: idempotencyKey,
    digest: bodyDigest(body),
    resourceId: batchId,
    nowSeconds,
  };
  const made = draftOf(request, { batchId, network: first.network, nowSeconds }, totals);
  const items = checked.map((item) => ({ ...item, itemId: newId() }));
  crashPoint('create.before-transaction');
  const claimed = await transact(deps.db, async (tx) => {
    const key = await claimKey(tx, claim);
    crashPoint('create.key-claimed');
    if (!key.first) return key;
    // After the claim of the idempotency key: a refusal rolls the claim back too.
    checkLimits(totals.requested, { ...settings, format: formatAmount });
    await insertBatch(tx, made, items);
    crashPoint('create.batch-inserted');
    await recordBatchEvent(tx, { before: null, after: made }, time);
    crashPoint('create.before-commit');
    return key;
  });
  crashPoint('create.after-commit');
  const batch = claimed.first ? made : await getBatch(deps.db, caller.merchantId, claimed.resourceId);
  crashPoint('create.before-reply');
  return { body: presentBatch(batch), replayed: !claimed.first };
}

/** The batch as it is inserted and answered. */
function draftOf(
  { caller, body, idempotencyKey }: CreateRequest,
  { batchId, network, nowSeconds }: { batchId: string; network: Network; nowSeconds: number },
  totals: Totals,
): BatchRow {
  return {
    merchant_id: caller.merchantId,
    batch_id: batchId,
    store_id: caller.storeId,
    key_id: caller.actor.kind === 'key' ? caller.actor.keyId : null,
    idempotency_key: idempotencyKey,
    currency: body.currency,
    network,
    status: 'draft',
    description: body.description ?? null,
    ...totalColumns(totals),
    validation_errors: totals.errors,
    success_count: 0,
    failed_count: 0,
    frozen_amount: 0n,
    charged_service_fee_amount: 0n,
    items_digest: null,
    ...withAuthor({ owners: [], authors: [] }, caller),
    submitted_day: null,
    required_approvals: 0,
    required_signatures: null,
    created_at: nowSeconds,
    submitted_at: null,
    completed_at: null,
  };
}
