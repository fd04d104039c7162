import type { RefundInput } from '@florin/contract/schemas';
import { findPaymentId } from '../checkout/index.ts';
import { BelowFloor, post } from '../ledger/index.ts';
import {
  findHeldTransfer,
  lockPayment,
  moveRefundable,
  type PaymentView,
  type TransferKey,
} from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { bodyDigest, claimKey, newId, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import { getMerchant, suspendedFor } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { checkRecipient } from '../transfers/index.ts';
import { addressColumns, nextJob, UNADDRESSED } from './approval.ts';
import { checkRefundAddress, provenWallet } from './check-address.ts';
import { newClaimSecret } from './claim-link.ts';
import { type RefundDeps, type RefundSettings, refundSettings } from './deps.ts';
import { expireClaimJob } from './jobs.ts';
import { reservePostings } from './postings.ts';
import { mayReturnTo } from './proven-wallet.ts';
import { getRefund, insertRefund, listReturned, type RefundRow, takeQuota } from './queries.ts';
import { amountOf, type Pot, placeOf, potOf } from './states.ts';

const OPERATION = 'refund.create';
const DAY_SECONDS = 86_400;
const CLAIM_SECONDS = 30 * DAY_SECONDS;

const refuse = (param: string, message: string) => new Fail('invalid_request', { message, param });

interface Creation {
  deps: RefundDeps;
  caller: Caller;
  body: RefundInput;
  settings: RefundSettings;
  time: MerchantTime;
}

/**
 * Sets money of a payment aside to go back to its payer.
 *
 * @throws Fail `invalid_request` (param `payment_id`, `tx_id`, `currency`, `amount`, `address`), `parameter_missing`,
 * `resource_not_found`, `conflict`, `daily_refund_limit_exceeded`, `insufficient_balance`
 */
export async function createRefund(
  deps: RefundDeps,
  caller: Caller,
  body: RefundInput,
): Promise<{ refund: RefundRow; replayed: boolean }> {
  if (body.amount !== undefined && body.currency === undefined) {
    const message = 'currency is required with amount: it says which token the amount is in.';
    throw new Fail('parameter_missing', { message, param: 'currency' });
  }
  const paymentId = await findPaymentId(deps.db, caller, body.payment_id);
  const settings = await refundSettings(deps, caller);
  const time = merchantTime(deps, caller);
  const creation: Creation = { deps, caller, body, settings, time };
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
    return await make(tx, creation, view, claim.resourceId);
  });
  crashPoint('refund.after-commit');
  const refund = made ?? (await getRefund(deps.db, caller, body.refund_id));
  crashPoint('refund.before-reply');
  return { refund, replayed: made === undefined };
}

interface Source {
  pot: Pot;
  /** The transfer that is refunded; null: the payment's own money. */
  transfer: TransferKey | null;
}

async function make(tx: Tx, creation: Creation, view: PaymentView, refundId: string): Promise<RefundRow> {
  const { deps, caller, body, settings, time } = creation;
  const { pot, transfer } = sourceOf(view, body.tx_id);
  const amount = sizeOf(pot, body);
  const address = await recipientOf(tx, creation, view, { pot, transfer, amount });
  const key = { merchant_id: caller.merchantId, refund_id: refundId };
  const sum = { ...key, currency: pot.currency, network: pot.network, amount };
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
    reason: body.reason ?? null,
    metadata: body.metadata ?? {},
    claim_secret: address === null ? newClaimSecret(deps.vault, key) : null,
    claim_ends_at: address === null ? time.seconds + CLAIM_SECONDS : null,
    suspended_seconds: suspendedFor(await getMerchant(tx, caller.merchantId), time.seconds),
    day: Math.floor(time.seconds / DAY_SECONDS),
    created_at: time.seconds,
  };
  // Quota before ledger, as an end takes them: two locks in two orders wait for each other.
  if (!(await takeQuota(tx, row, settings.dailyLimit))) throw limitExceeded();
  const refund = await insertRefund(tx, row);
  crashPoint('refund.inserted');
  await reserve(tx, refund, pot, transfer);
  crashPoint('refund.reserved');
  const job =
    address === null ? expireClaimJob(refund, time, CLAIM_SECONDS) : nextJob(refund, time, settings);
  await enqueue(tx, [job]);
  crashPoint('refund.before-commit');
  return refund;
}

/** What the request asks to refund from. @throws Fail */
function sourceOf(view: PaymentView, txId: string | undefined): Source {
  const { payment } = view;
  if (txId === undefined) {
    const pot = potOf({
      status: payment.status,
      currency: payment.fixed_currency,
      network: payment.fixed_network,
      received: payment.received_amount,
      refunded: payment.refunded_amount,
      refunding: payment.refunding_amount,
    });
    if (pot !== undefined) return { pot, transfer: null };
    const message = `Nothing of this payment can be refunded: it is ${payment.status} and has received ${payment.received_amount}.`;
    throw refuse('payment_id', message);
  }
  const held = findHeldTransfer(view, txId);
  const { currency, network, held_amount: left } = held;
  if (currency === null || left === 0n) throw refuse('tx_id', 'Nothing of this transfer is left to refund.');
  const pot = { currency, network, left, place: placeOf(payment.status, true) };
  return { pot, transfer: { network, txId: held.tx_id, index: held.index } };
}

/** @throws Fail with param `currency` or `amount` */
function sizeOf(pot: Pot, { amount, currency }: RefundInput): bigint {
  const size = amountOf(pot, { amount: amount === undefined ? undefined : BigInt(amount), currency });
  if ('amount' in size) return size.amount;
  if (size.refused === 'currency')
    throw refuse('currency', `This money came in ${pot.currency} and goes back in it.`);
  throw refuse('amount', `${pot.left} is all that is left to refund.`);
}

/** Where it goes: as given, else to the proven wallet that sent it; null: the payer is asked. @throws Fail with param `address` */
async function recipientOf(
  tx: Tx,
  { deps, caller, body, settings }: Creation,
  view: PaymentView,
  taken: Taken,
): Promise<string | null> {
  const { network } = taken.pot;
  const address = body.address ?? (await provenSender(tx, view, taken));
  if (address === null) return null;
  const allowProgramOwned = settings.allowProgramOwned || body.address === undefined;
  await checkRefundAddress(tx, deps, { merchant: caller, network, address, allowProgramOwned });
  return address;
}

/** What a refund takes, and from where. */
interface Taken extends Source {
  amount: bigint;
}

/** The wallet that was proven for the payment, where it sent what is refunded and has not had it back. */
async function provenSender(
  tx: Tx,
  view: PaymentView,
  { pot, transfer, amount }: Taken,
): Promise<string | null> {
  const { network } = pot;
  const wallet = provenWallet(network, view.payment.wallet_address);
  if (wallet === null) return null;
  const sent = view.transactions.filter((t) => isTakenFrom(t, transfer) && t.lost_at === null);
  const refunds = await listReturned(tx, view.payment, transfer);
  const returned = refunds.map((refund) => ({
    ...refund,
    address: checkRecipient(network, refund.address, { allowProgramOwned: true }).canonical,
  }));
  return mayReturnTo(wallet, amount, { sent, returned }) ? wallet : null;
}

/** Whether a refund of that transfer, or of the payment's own money (null), takes from this one. */
function isTakenFrom(t: PaymentView['transactions'][number], transfer: TransferKey | null): boolean {
  if (t.status !== 'final') return false;
  if (transfer === null) return t.kind === 'counted';
  return t.network === transfer.network && t.tx_id === transfer.txId && t.index === transfer.index;
}

const limitExceeded = () =>
  new Fail(
    'daily_refund_limit_exceeded',
    'The refund does not fit into what the store may refund today. The day ends at 00:00 UTC.',
  );

/** Takes the money out of the payment and the merchant's balance. @throws Fail `insufficient_balance` */
async function reserve(
  tx: Tx,
  refund: RefundRow,
  { place }: Pot,
  transfer: TransferKey | null,
): Promise<void> {
  const { merchant_id: merchantId, payment_id, amount } = refund;
  const held = place === 'held' ? -amount : 0n;
  await moveRefundable(tx, { merchant_id: merchantId, payment_id }, transfer, {
    refunding: amount,
    refunded: 0n,
    held,
  });
  try {
    await post(tx, merchantId, reservePostings(refund, place), Number(refund.created_at));
  } catch (error) {
    if (!(error instanceof BelowFloor)) throw error;
    const message = `The available balance of ${refund.currency} does not cover the refund.`;
    throw new Fail('insufficient_balance', message);
  }
}
