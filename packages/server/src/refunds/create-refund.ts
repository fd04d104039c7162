import type { RefundInput } from '@florin/contract/schemas';
import { findPaymentId } from '../checkout/index.ts';
import { BelowFloor, post } from '../ledger/index.ts';
import { moveRefundable, type TransferKey } from '../payments/books/index.ts';
import { findHeldTransfer } from '../payments/deposits/index.ts';
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
import { checkRecipient } from '../transfers/recipients/index.ts';
import { addressColumns, nextJob, UNADDRESSED } from './approvals/approval.ts';
import { checkRefundAddress, provenWallet } from './check-address.ts';
import { newClaimSecret } from './claim-link.ts';
import { type RefundDeps, type RefundSettings, refundSettings } from './deps.ts';
import { expireClaimJob } from './jobs.ts';
import { mailRefund } from './mail-refund.ts';
import { reservePostings } from './postings.ts';
import { mayReturnTo } from './proven-wallet.ts';
import { getRefund, insertRefund, listReturned, type RefundRow, reserveQuota } from './queries.ts';
import { balanceOf, type RefundSource, refundAmount, refundSourceOf } from './states.ts';

const OPERATION = 'refund.create';
const DAY_SECONDS = 86_400;
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

interface Refundable {
  source: RefundSource;
  /** The transfer that is refunded; null: the payment's own money. */
  transfer: TransferKey | null;
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
  const refund = await insertRefund(tx, row);
  crashPoint('refund.inserted');
  await reserve(tx, refund, source, transfer);
  crashPoint('refund.reserved');
  const job =
    address === null ? expireClaimJob(refund, time, CLAIM_SECONDS) : nextJob(refund, time, settings);
  await enqueue(tx, [job]);
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

/** Finds the money that the request refunds from. @throws Fail */
function sourceOf(view: PaymentView, txId: string | undefined): Refundable {
  const { payment } = view;
  if (txId === undefined) {
    const source = refundSourceOf({
      status: payment.status,
      currency: payment.fixed_currency,
      network: payment.fixed_network,
      received: payment.received_amount,
      refunded: payment.refunded_amount,
      refunding: payment.refunding_amount,
    });
    if (source !== undefined) return { source, transfer: null };
    const message = `Nothing of this payment can be refunded: it is ${payment.status} and has received ${payment.received_amount}.`;
    throw invalidParam('payment_id', message);
  }
  const held = findHeldTransfer(view, txId);
  const { currency, network, held_amount: left } = held;
  if (currency === null || left === 0n)
    throw invalidParam('tx_id', 'Nothing of this transfer is left to refund.');
  const source = { currency, network, left, balance: balanceOf(payment.status, true) };
  return { source, transfer: { network, txId: held.tx_id, index: held.index } };
}

/** @throws Fail with param `currency` or `amount` */
function checkAmount(source: RefundSource, { amount, currency }: RefundInput): bigint {
  const size = refundAmount(source, { amount: amount === undefined ? undefined : BigInt(amount), currency });
  if ('amount' in size) return size.amount;
  if (size.refused === 'currency')
    throw invalidParam('currency', `This payment was made in ${source.currency} and is refunded in it.`);
  throw invalidParam('amount', `At most ${source.left} can be refunded.`);
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
async function provenSender(
  tx: Tx,
  view: PaymentView,
  { source, transfer, amount }: Taken,
): Promise<string | null> {
  const { network } = source;
  const wallet = provenWallet(network, view.payment.wallet_address);
  if (wallet === null) return null;
  const sent = view.transactions.filter((t) => isPartOf(t, transfer) && t.lost_at === null);
  const refunds = await listReturned(tx, view.payment, transfer);
  const returned = refunds.map((refund) => ({
    ...refund,
    address: checkRecipient(network, refund.address, { allowProgramOwned: true }).canonical,
  }));
  return mayReturnTo(wallet, amount, { sent, returned }) ? wallet : null;
}

/** Whether a transaction is part of the refunded money: that transfer, or the payment's own money (null). */
function isPartOf(t: PaymentView['transactions'][number], transfer: TransferKey | null): boolean {
  if (t.status !== 'final') return false;
  if (transfer === null) return t.kind === 'counted';
  return t.network === transfer.network && t.tx_id === transfer.txId && t.index === transfer.index;
}

const limitExceeded = () =>
  new Fail(
    'daily_refund_limit_exceeded',
    'The refund exceeds what the store may refund today. The limit resets at 00:00 UTC.',
  );

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
