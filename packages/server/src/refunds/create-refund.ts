import { formatTokens } from '@florin/contract/money';
import type { RefundInput } from '@florin/contract/schemas';
import { findPaymentId } from '../checkout/index.ts';
import { BelowFloor, post } from '../ledger/index.ts';
import { moveRefundable, type TransferKey } from '../payments/books/index.ts';
import { lockPayment, type PaymentView } from '../payments/reads/index.ts';
import { bodyDigest, claimKey } from '../platform/db/guards/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail, invalidParam } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import { getMerchant, suspendedFor } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { requiredApprovals } from '../transfers/approvals/index.ts';
import { addressColumns, nextJob, UNADDRESSED } from './approvals/approval.ts';
import { checkRefundAddress } from './check-address.ts';
import { newClaimSecret } from './claim-link.ts';
import { type RefundDeps, type RefundSettings, refundSettings } from './deps.ts';
import { expireClaimJob } from './jobs.ts';
import { mailRefund, mailWaiting } from './mail-refund.ts';
import { reservePostings } from './postings.ts';
import { DAY_SECONDS, getRefund, insertRefund, type RefundRow, refundedBy, reserveQuota } from './queries.ts';
import { provenShare, type Refundable, sourceOf } from './refundable/sources.ts';
import { type RefundSource, refundAmount } from './states.ts';

const OPERATION = 'refund.create';
const CLAIM_SECONDS = 30 * DAY_SECONDS;

interface Creation {
  deps: RefundDeps;
  caller: Caller;
  body: RefundInput;
  settings: RefundSettings;
  time: MerchantTime;
  signerRule: requiredApprovals.SignerRule;
}

/**
 * Creates a refund and reserves its money.
 *
 * @throws Fail `invalid_request` (param `payment_id`, `tx_id`, `currency`, `amount`, `address`), `parameter_missing`,
 * `resource_not_found`, `conflict`, `daily_refund_limit_exceeded`, `insufficient_balance`, `service_unavailable` where the
 * signer of live money does not answer
 */
export async function createRefund(
  deps: RefundDeps,
  caller: Caller,
  body: RefundInput,
): Promise<{ refund: RefundRow; replayed: boolean }> {
  if (body.amount !== undefined && body.currency === undefined) {
    const message = 'currency is required with amount.';
    throw new Fail('parameter_missing', { message, param: 'currency' });
  }
  const paymentId = await findPaymentId(deps.db, caller, body.payment_id);
  const settings = await refundSettings(deps, caller);
  const time = merchantTime(deps, caller);
  const signerRule = await requiredApprovals.readSignerRule(deps.chains, caller, 'refunds');
  const creation: Creation = { deps, caller, body, settings, time, signerRule };
  const claim = {
    merchantId: caller.merchantId,
    storeId: caller.storeId,
    operation: OPERATION,
    key: body.refund_id,
    digest: bodyDigest(body),
    resourceId: newId(),
    nowSeconds: time.seconds,
    param: 'refund_id',
  };
  crashPoint('refund.before-transaction');
  const made = await transact(deps.db, async (tx) => {
    const key = await claimKey(tx, claim);
    crashPoint('refund.key-claimed');
    if (!key.first) return undefined;
    const view = await lockPayment(tx, caller.merchantId, paymentId);
    return await insertAndReserve(tx, creation, view, claim.resourceId);
  });
  crashPoint('refund.after-commit');
  const refund = made ?? (await getRefund(deps.db, caller, body.refund_id));
  crashPoint('refund.before-reply');
  return { refund, replayed: made === undefined };
}

async function insertAndReserve(
  tx: Tx,
  creation: Creation,
  view: PaymentView,
  refundId: string,
): Promise<RefundRow> {
  const { deps, caller, body, settings, time } = creation;
  const { source, transfer } = sourceOf(view, body.tx_id);
  const amount = checkAmount(source, body);
  const address = await resolveAddress(tx, creation, view, { source, transfer, amount });
  const key = { merchant_id: caller.merchantId, refund_id: refundId };
  const sum = { ...key, currency: source.currency, network: source.network, amount };
  const addressed = address === null ? UNADDRESSED : await addressColumns(tx, { ...sum, address }, creation);
  const row = {
    ...sum,
    own_id: body.refund_id,
    store_id: caller.storeId,
    payment_id: view.payment.payment_id,
    source_tx_id: transfer?.txId ?? null,
    source_index: transfer?.index ?? null,
    ...addressed,
    status: 'pending' as const,
    created_by_owner: caller.ownerId,
    authors: [...caller.people],
    made_by_user: caller.actor.kind === 'user' ? caller.actor.userId : null,
    reason: body.reason ?? null,
    metadata: body.metadata ?? {},
    claim_secret: address === null ? newClaimSecret(deps.vault, key) : null,
    claim_ends_at: address === null ? time.seconds + CLAIM_SECONDS : null,
    suspended_seconds: suspendedFor(await getMerchant(tx, caller.merchantId), time.seconds),
    day: Math.floor(time.seconds / DAY_SECONDS),
    created_at: time.seconds,
  };
  // Quota before ledger, the same lock order as in `endRefund`, so that they cannot deadlock.
  if (!(await reserveQuota(tx, row, settings.dailyLimit))) throw limitExceeded();
  await checkOwnLimit(tx, creation, row);
  const refund = await insertRefund(tx, row);
  crashPoint('refund.inserted');
  await reserve(tx, refund, source, transfer);
  crashPoint('refund.reserved');
  const job =
    address === null ? expireClaimJob(refund, time, CLAIM_SECONDS) : nextJob(refund, time, settings);
  await enqueue(tx, [job]);
  await mailWaiting(tx, refund, time);
  if (address === null)
    await mailRefund(
      tx,
      { refund, payment: view.payment },
      { kind: 'refund_claim', vault: deps.vault },
      time,
    );
  crashPoint('refund.before-commit');
  return refund;
}

/** @throws Fail with param `currency` or `amount` */
function checkAmount(source: RefundSource, { amount, currency }: RefundInput): bigint {
  const size = refundAmount(source, { amount: amount === undefined ? undefined : BigInt(amount), currency });
  if ('amount' in size) return size.amount;
  if (size.refused === 'currency')
    throw invalidParam('currency', `This payment was made in ${source.currency} and is refunded in it.`);
  const most = `${formatTokens(source.left)} ${source.currency} (amount ${source.left})`;
  throw invalidParam('amount', `At most ${most} can be refunded.`);
}

/**
 * The refund's address: the given one, else the proven wallet that sent the money; null: the payer names it behind the link.
 *
 * @throws Fail with param `address`
 */
async function resolveAddress(
  tx: Tx,
  { deps, caller, body, settings }: Creation,
  view: PaymentView,
  taken: Taken,
): Promise<string | null> {
  const { network } = taken.source;
  const address = body.address ?? (await provenSender(tx, view, taken));
  if (address === null) return null;
  const allowProgramOwned = settings.allowProgramOwned || body.address === undefined;
  await checkRefundAddress(tx, deps, { merchant: caller, network, address, allowProgramOwned });
  return address;
}

/** The money of one refund. */
interface Taken extends Refundable {
  amount: bigint;
}

/** The payment's proven wallet, if it sent the refunded money and no other refund has returned it. */
async function provenSender(tx: Tx, view: PaymentView, taken: Taken): Promise<string | null> {
  const share = await provenShare(tx, view, taken);
  return share !== null && taken.amount <= share.most ? share.wallet : null;
}

const limitExceeded = () =>
  new Fail(
    'daily_refund_limit_exceeded',
    'The refund exceeds what the store may refund today. The limit resets at 00:00 UTC.',
  );

/**
 * What a person of support may refund has a limit of its own. The store's quota of the day is locked, so of two refunds at
 * once the second one sees the first.
 *
 * @throws Fail `daily_refund_limit_exceeded` with param `amount`
 */
async function checkOwnLimit(
  tx: Tx,
  { caller: { actor }, settings: { supportDailyLimit: limit } }: Creation,
  row: Parameters<typeof refundedBy>[1],
): Promise<void> {
  if (limit === 'off' || actor.kind !== 'user' || actor.permissions.includes('create_payouts')) return;
  const left = limit - (await refundedBy(tx, row, actor.userId));
  if (row.amount <= left) return;
  const most = left > 0n ? `at most ${formatTokens(left)} more` : 'nothing more';
  throw new Fail('daily_refund_limit_exceeded', {
    message: `Your role may refund ${formatTokens(limit)} a day, so ${most} today. Ask somebody who may pay out.`,
    param: 'amount',
  });
}

/** Reserves the money in the payment and in the merchant's balance. @throws Fail `insufficient_balance` */
async function reserve(
  tx: Tx,
  refund: RefundRow,
  { balance }: RefundSource,
  transfer: TransferKey | null,
): Promise<void> {
  const { merchant_id: merchantId, payment_id, amount } = refund;
  const held = balance === 'held' ? -amount : 0n;
  await moveRefundable(tx, { merchant_id: merchantId, payment_id }, transfer, {
    refunding: amount,
    refunded: 0n,
    held,
  });
  try {
    await post(tx, merchantId, reservePostings(refund, balance), Number(refund.created_at));
  } catch (error) {
    if (!(error instanceof BelowFloor)) throw error;
    const message = `The available balance of ${refund.currency} does not cover the refund.`;
    throw new Fail('insufficient_balance', message);
  }
}
