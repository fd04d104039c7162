import type { Asset, Network } from '@florin/contract/money';
import type { ChainTransfer } from '../chains/index.ts';
import { type Posting, postAll } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint, enqueue, type JobSpec } from '../platform/jobs/index.ts';
import type { Rate } from '../rates/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { auditJob } from '../transfers/index.ts';
import { recordChanges, rulesOf } from './change-payment.ts';
import { markMinedAgain } from './coin-queries.ts';
import type { PaymentContext } from './deps.ts';
import { creditedJob } from './jobs.ts';
import { arrivalPostings, minedAgainPostings, releaseHeldPostings } from './postings.ts';
import { atHeldQuote, factsOf, fixedOptionOf, isQuoteDue } from './present.ts';
import {
  type DepositChange,
  lockPayments,
  type OptionRow,
  type PaymentView,
  type TransactionChange,
  type TransactionRow,
  transactionKey,
  updatePayments,
  upsertOption,
  upsertTransactions,
  viewsOf,
} from './queries.ts';
import { hasRateMoved, requotedOption } from './quote.ts';
import { nextStatus, receivedAmount, transactionKind } from './states.ts';

// The only place that credits deposits: once per (network, tx, index), in the transaction that makes the row final, under
// the lock of its payment. Transfers that are already final are skipped, so several workers may read the same blocks
// again, in any order.

/** What a scan of a network found for one payment. */
export interface PaymentScan {
  network: Network;
  /** Transfers in final blocks. */
  final: readonly ChainTransfer[];
  /** Transfers in blocks that are not final yet. */
  seen: readonly ChainTransfer[];
  /** The newest block of a complete scan; undefined: the scan was not complete, so absence proves nothing. */
  readTo: bigint | undefined;
  /** Senders on the sanctions list. */
  listed: ReadonlySet<string>;
  /** Token prices in the payment's currency, as far as they were needed and available. */
  rates: ReadonlyMap<Asset, Rate>;
}

interface Found {
  transfer: ChainTransfer;
  isFinal: boolean;
}

const keyOf = (network: Network, { txId, index }: ChainTransfer) =>
  transactionKey({ network, tx_id: txId, index });

type MinedAgain = TransactionRow & { height: bigint };

/** What a scan will change in a payment. */
interface ChangePlan {
  before: PaymentView;
  scan: PaymentScan;
  fixed: OptionRow | undefined;
  /** The money came after the fixed option's quote had ended, so the option needs a new quote. */
  isQuoteDue: boolean;
  transactions: readonly TransactionChange[];
  /** The subset of `transactions` that has become final. */
  arrived: readonly TransactionChange[];
  /** Transfers lost to a reorganisation after they were final, and in a final block again. */
  minedAgain: readonly MinedAgain[];
}

/**
 * Whether a scan changes a payment; undefined: it does not. `token` is the one whose rate the change needs: that of the
 * option which the scan leaves fixed.
 */
export function previewChange(
  view: PaymentView,
  scan: PaymentScan,
  context: PaymentContext,
): { token: Asset | undefined } | undefined {
  const plan = planChange(view, scan, context);
  if (plan === undefined) return undefined;
  const { expires_at: expiresAt, currency } = view.payment;
  const mayBeLate = expiresAt !== null && context.time.seconds > Number(expiresAt);
  const needsRate = plan.fixed?.currency !== currency && (plan.isQuoteDue || mayBeLate);
  return { token: needsRate ? plan.fixed?.currency : undefined };
}

/** @returns undefined if the scan changes no transaction: the status was decided when these were written */
function planChange(before: PaymentView, scan: PaymentScan, context: PaymentContext): ChangePlan | undefined {
  const found = [
    ...scan.final.map((transfer): Found => ({ transfer, isFinal: true })),
    ...scan.seen.map((transfer): Found => ({ transfer, isFinal: false })),
  ];
  const gone = findVanished(before, scan, found);
  const paid = fixedOption(before, scan, { found, gone });
  const changed = transactionChanges(before, scan, { found, fixed: paid, context });
  const transactions = [...changed, ...gone];
  const minedAgain = findMinedAgain(before, scan);
  if (transactions.length + minedAgain.length === 0) return undefined;
  const after = atHeldQuote(viewAfter(before, paid, transactions));
  return {
    before,
    scan,
    fixed: fixedOptionOf(after),
    isQuoteDue: isQuoteDue(after),
    transactions,
    arrived: changed.filter(isNewlyFinal(before)),
    minedAgain,
  };
}

/**
 * Applies scans to payments of one merchant in the caller's transaction.
 *
 * @returns whether any payment has changed
 */
export async function applyTransfers(
  tx: Tx,
  merchantId: string,
  scans: ReadonlyMap<string, PaymentScan>,
  context: PaymentContext,
): Promise<boolean> {
  const locked = await lockPayments(tx, merchantId, [...scans.keys()]);
  const plans = locked.flatMap((before) => {
    const scan = scans.get(before.payment.payment_id);
    return (scan && planChange(before, scan, context)) ?? [];
  });
  if (plans.length === 0) return false;
  for (const plan of plans) {
    const rate = plan.fixed && plan.scan.rates.get(plan.fixed.currency);
    const requoted = requotedOption(plan.before, plan, rate, context);
    if (requoted !== undefined) await upsertOption(tx, requoted);
  }
  await upsertTransactions(
    tx,
    merchantId,
    plans.flatMap((plan) => plan.transactions),
  );
  await markMinedAgain(
    tx,
    merchantId,
    plans.flatMap((plan) => plan.minedAgain),
  );
  crashPoint('deposits.transactions-written');
  await settle(tx, merchantId, plans, context);
  return true;
}

/** Lost transfers that the scan found again. They stay credited; only the operator's loss is booked back. */
function findMinedAgain({ transactions }: PaymentView, { network, final }: PaymentScan): MinedAgain[] {
  const heights = new Map(final.map((transfer) => [keyOf(network, transfer), transfer.height]));
  return transactions.flatMap((t) => {
    const height = t.lost_at === null ? undefined : heights.get(transactionKey(t));
    return height === undefined ? [] : [{ ...t, height }];
  });
}

/** The first money seen fixes the option. The option is free again when every transfer of a listed token is gone. */
function fixedOption(
  view: PaymentView,
  { network }: PaymentScan,
  { found, gone }: { found: readonly Found[]; gone: readonly TransactionChange[] },
): OptionRow | undefined {
  const { payment, options, transactions } = view;
  const present = new Set(found.map(({ transfer }) => keyOf(network, transfer)));
  const absent = new Set(gone.map((t) => transactionKey(t)));
  const isThere = (t: TransactionRow) =>
    present.has(transactionKey(t)) || (t.status !== 'gone' && !absent.has(transactionKey(t)));
  if (payment.fixed_currency !== null && transactions.some((t) => t.kind !== 'unlisted' && isThere(t)))
    return fixedOptionOf(view);
  const [first] = found
    .map(({ transfer }) => transfer)
    .filter(({ asset }) => asset !== null)
    .toSorted((a, b) => a.time - b.time || (a.txId < b.txId ? -1 : 1) || a.index - b.index);
  return first && options.find((o) => o.network === network && o.address === first.to);
}

/** The payment with the changes of a scan, before they are written. */
function viewAfter(
  before: PaymentView,
  fixed: OptionRow | undefined,
  changes: readonly TransactionChange[],
): PaymentView {
  const { merchant_id } = before.payment;
  const fresh = { merchant_id, pulled: false, refunded_amount: 0n, refunding_amount: 0n, swept_amount: 0n };
  const transactions = new Map(before.transactions.map((t) => [transactionKey(t), t]));
  for (const change of changes) {
    const known = transactions.get(transactionKey(change));
    transactions.set(transactionKey(change), {
      ...(known ?? { ...fresh, sweep_id: null, swept_amount: 0n, lost_at: null }),
      ...change,
    });
  }
  const payment = { ...before.payment, ...fixesOf(fixed) };
  return { ...before, payment, transactions: [...transactions.values()] };
}

/** Compares the rate of the token that the payment is paid in with its quote before this change. */
function rateMovedOf(
  { before: { payment }, scan, fixed }: ChangePlan,
  { settings }: PaymentContext,
): boolean {
  if (fixed === undefined) return false;
  return hasRateMoved(payment, fixed, scan.rates.get(fixed.currency), settings);
}

function transactionChanges(
  { payment, options, transactions }: PaymentView,
  scan: PaymentScan,
  {
    found,
    fixed,
    context,
  }: { found: readonly Found[]; fixed: OptionRow | undefined; context: PaymentContext },
): TransactionChange[] {
  const known = new Map(transactions.map((t) => [transactionKey(t), t]));
  const { seconds } = context.time;
  const changes = new Map<string, TransactionChange>();
  for (const { transfer, isFinal } of found) {
    const key = keyOf(scan.network, transfer);
    const old = known.get(key);
    // A final transfer never changes; one that is in both lists is final.
    if (old?.status === 'final' || changes.get(key)?.status === 'final') continue;
    const option = options.find((o) => o.network === scan.network && o.address === transfer.to);
    if (option === undefined) continue;
    const kind = transactionKind(
      {
        currency: transfer.asset,
        network: scan.network,
        isListedSender: scan.listed.has(transfer.from),
      },
      fixed ?? option,
      option,
    );
    const status = isFinal ? 'final' : 'seen';
    if (old?.status === status && old.kind === kind && BigInt(old.height) === transfer.height) continue;
    changes.set(key, {
      network: scan.network,
      tx_id: transfer.txId,
      index: transfer.index,
      payment_id: payment.payment_id,
      currency: transfer.asset,
      address: transfer.to,
      sender: transfer.from,
      amount: shownAmount(transfer),
      kind,
      status,
      decision: old?.decision ?? null,
      held_amount: isFinal && kind === 'wrong_token' ? transfer.amount : 0n,
      height: transfer.height,
      seen_at: Math.min(Number(old?.seen_at ?? seconds), seconds, transfer.time),
      final_at: isFinal ? seconds : null,
    });
  }
  return [...changes.values()];
}

/** Unlisted tokens may carry any amount; it is only shown, so it is capped at a safe integer. */
function shownAmount({ asset, amount }: ChainTransfer): bigint {
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  return asset === null && amount > max ? max : amount;
}

/** Seen transfers that are in no block any more. A node that has not reached their block yet proves nothing. */
function findVanished(
  { transactions }: PaymentView,
  scan: PaymentScan,
  found: readonly Found[],
): TransactionChange[] {
  const { readTo, network } = scan;
  if (readTo === undefined) return [];
  const present = new Set(found.map(({ transfer }) => keyOf(network, transfer)));
  return transactions
    .filter((t) => t.network === network && t.status === 'seen' && BigInt(t.height) <= readTo)
    .filter((t) => !present.has(transactionKey(t)))
    .map((t) => ({ ...t, status: 'gone' as const }));
}

function isNewlyFinal({ transactions }: PaymentView): (change: TransactionChange) => boolean {
  const final = new Set(transactions.filter((t) => t.status === 'final').map((t) => transactionKey(t)));
  return (change) => change.status === 'final' && !final.has(transactionKey(change));
}

/** Books what became final, decides the new status, and releases the held amount of payments that complete. */
async function settle(
  tx: Tx,
  merchantId: string,
  plans: readonly ChangePlan[],
  context: PaymentContext,
): Promise<void> {
  const { seconds } = context.time;
  const now = await viewsOf(
    tx,
    plans.map(({ before, fixed }) => ({ ...before.payment, ...fixesOf(fixed) })),
  );
  const outcomes = plans.map((plan, i) =>
    decideArrival(
      { ...plan, hasNewMoney: hasCounted(plan.arrived), rateMoved: rateMovedOf(plan, context) },
      now[i] ?? plan.before,
      context,
    ),
  );
  await postAll(
    tx,
    merchantId,
    outcomes.map(({ postings }) => postings),
    seconds,
  );
  await enqueue(tx, coinJobs(merchantId, plans, context.time));
  crashPoint('deposits.posted');
  const rows = await updatePayments(
    tx,
    merchantId,
    outcomes.map(({ change }) => change),
  );
  const changed = plans.map(({ before }, i) => {
    const payment = rows.get(before.payment.payment_id) ?? before.payment;
    return { before, after: { ...(now[i] ?? before), payment } };
  });
  await recordChanges(tx, changed, context);
}

/** Orders sweeps of credited coins, and an audit for each transfer that became final or vanished. */
function coinJobs(merchantId: string, plans: readonly ChangePlan[], { realMs }: MerchantTime): JobSpec[] {
  return plans.flatMap(({ scan: { network }, arrived, minedAgain, transactions }) => [
    ...(arrived.length + minedAgain.length > 0 ? [creditedJob(merchantId, network, realMs)] : []),
    ...(transactions.some((t) => t.status !== 'seen') ? [auditJob(merchantId, network, realMs)] : []),
  ]);
}

const fixesOf = (fixed: OptionRow | undefined) => ({
  fixed_currency: fixed?.currency ?? null,
  fixed_network: fixed?.network ?? null,
});

interface Arrival extends Pick<ChangePlan, 'before' | 'fixed' | 'arrived' | 'minedAgain'> {
  /** Late money completes a payment only when it becomes final, or when it gets its quote. */
  hasNewMoney: boolean;
  rateMoved: boolean;
}

export const hasCounted = (arrived: readonly Pick<TransactionChange, 'kind'>[]) =>
  arrived.some(({ kind }) => kind === 'counted');

/**
 * Decides the status, amounts and postings that follow from transfers that arrived.
 *
 * @param now the payment with its transactions as they are written
 */
export function decideArrival(
  { before, fixed, arrived, minedAgain, hasNewMoney, rateMoved }: Arrival,
  now: PaymentView,
  { settings, time }: PaymentContext,
): { change: DepositChange; postings: Posting[] } {
  const { payment_id: paymentId, held_amount: heldBefore, completed_at: completedAt } = before.payment;
  const facts = factsOf(now);
  const counted = arrived.filter((t) => t.kind === 'counted');
  const status = nextStatus(facts, rulesOf(now, settings), {
    now: time.seconds,
    // Expiry must wait for all networks of the payment, so only `expirePayment` decides it.
    mayExpire: false,
    hasNewMoney: hasNewMoney,
    rateMoved,
  });
  const wasCompleted = before.payment.status === 'completed';
  const held = wasCompleted ? heldBefore : counted.reduce((sum, t) => sum + t.amount, heldBefore);
  const completes = status === 'completed' && !wasCompleted;
  const postings = arrived.flatMap((t) =>
    t.currency === null ? [] : arrivalPostings(paymentId, { ...t, currency: t.currency }, wasCompleted),
  );
  for (const t of minedAgain)
    if (t.currency !== null) postings.push(...minedAgainPostings(paymentId, { ...t, currency: t.currency }));
  if (completes && fixed !== undefined) {
    const { currency, network } = fixed;
    postings.push(...releaseHeldPostings(paymentId, { currency, network, amount: held }));
  }
  const change = {
    payment_id: paymentId,
    status,
    ...fixesOf(fixed),
    received_amount: receivedAmount(facts.transactions),
    held_amount: completes ? 0n : held,
    completed_at: completes ? time.seconds : completedAt,
  };
  return { change, postings };
}
