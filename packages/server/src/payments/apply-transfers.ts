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
import { hasMoved, requotedOption } from './quote.ts';
import { kindOf, nextStatus, receivedOf } from './states.ts';

// Credit happens here and nowhere else: once for each (network, tx, index), in the transaction that makes its row final,
// under the lock of its payment. A transfer that is final already is passed over, so blocks may be read again, by
// several workers at once, in any order.

/** What a reading of a network says of one payment. */
export interface Reading {
  network: Network;
  /** In final blocks, and in blocks after them. */
  final: readonly ChainTransfer[];
  seen: readonly ChainTransfer[];
  /** The newest block of the complete reading; undefined: what is absent may only be unread. */
  readTo: bigint | undefined;
  /** Senders that are listed. */
  listed: ReadonlySet<string>;
  /** What each token costs in the payment's currency, of those that were asked for and not refused. */
  rates: ReadonlyMap<Asset, Rate>;
}

interface Found {
  transfer: ChainTransfer;
  isFinal: boolean;
}

const keyOf = (network: Network, { txId, index }: ChainTransfer) =>
  transactionKey({ network, tx_id: txId, index });

type MinedAgain = TransactionRow & { height: bigint };

/** What a reading changes in a payment. */
interface Plan {
  before: PaymentView;
  reading: Reading;
  fixed: OptionRow | undefined;
  /** The fixed option's quote ended before the money came, so that it needs a new one. */
  isQuoteDue: boolean;
  transactions: readonly TransactionChange[];
  /** Of these: what has become final. */
  arrived: readonly TransactionChange[];
  /** What a reorganisation had taken after it was final, and is in a final block again. */
  minedAgain: readonly MinedAgain[];
}

/**
 * What a reading changes in a payment, as far as others prepare it; undefined: nothing. `token`: the one whose rate the
 * change has to know, which is that of the option that the reading leaves fixed.
 */
export function foreseen(
  view: PaymentView,
  reading: Reading,
  context: PaymentContext,
): { token: Asset | undefined } | undefined {
  const plan = planOf(view, reading, context);
  if (plan === undefined) return undefined;
  const { expires_at: expiresAt, currency } = view.payment;
  const mayBeLate = expiresAt !== null && context.time.seconds > Number(expiresAt);
  const needsRate = plan.fixed?.currency !== currency && (plan.isQuoteDue || mayBeLate);
  return { token: needsRate ? plan.fixed?.currency : undefined };
}

/** Undefined: it is as it was a moment ago, and what follows from the facts was decided with them. */
function planOf(before: PaymentView, reading: Reading, context: PaymentContext): Plan | undefined {
  const found = [
    ...reading.final.map((transfer): Found => ({ transfer, isFinal: true })),
    ...reading.seen.map((transfer): Found => ({ transfer, isFinal: false })),
  ];
  const gone = vanished(before, reading, found);
  const paid = fixedOption(before, reading, { found, gone });
  const changed = transactionChanges(before, reading, { found, fixed: paid, context });
  const transactions = [...changed, ...gone];
  const minedAgain = lostOnes(before, reading);
  if (transactions.length + minedAgain.length === 0) return undefined;
  const after = atHeldQuote(viewAfter(before, paid, transactions));
  return {
    before,
    reading,
    fixed: fixedOptionOf(after),
    isQuoteDue: isQuoteDue(after),
    transactions,
    arrived: changed.filter(isNewlyFinal(before)),
    minedAgain,
  };
}

/**
 * Brings payments of one merchant up to what was read, all of them or none.
 *
 * @returns whether that changed any
 */
export async function applyTransfers(
  tx: Tx,
  merchantId: string,
  readings: ReadonlyMap<string, Reading>,
  context: PaymentContext,
): Promise<boolean> {
  const locked = await lockPayments(tx, merchantId, [...readings.keys()]);
  const plans = locked.flatMap((before) => {
    const reading = readings.get(before.payment.payment_id);
    return (reading && planOf(before, reading, context)) ?? [];
  });
  if (plans.length === 0) return false;
  for (const plan of plans) {
    const rate = plan.fixed && plan.reading.rates.get(plan.fixed.currency);
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

/** Credited once and for all: only the operator's loss is over. */
function lostOnes({ transactions }: PaymentView, { network, final }: Reading): MinedAgain[] {
  const heights = new Map(final.map((transfer) => [keyOf(network, transfer), transfer.height]));
  return transactions.flatMap((t) => {
    const height = t.lost_at === null ? undefined : heights.get(transactionKey(t));
    return height === undefined ? [] : [{ ...t, height }];
  });
}

/** The first money seen fixes the option; it is free again when every transfer of a listed token is gone. */
function fixedOption(
  view: PaymentView,
  { network }: Reading,
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

/** The payment as a reading leaves it, before anything of that is written. */
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

/** Judged by the token that the payment is paid in, as it was quoted before. */
function rateMovedOf({ before: { payment }, reading, fixed }: Plan, { settings }: PaymentContext): boolean {
  if (fixed === undefined) return false;
  return hasMoved(payment, fixed, reading.rates.get(fixed.currency), settings);
}

function transactionChanges(
  { payment, options, transactions }: PaymentView,
  reading: Reading,
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
    const key = keyOf(reading.network, transfer);
    const old = known.get(key);
    // Final is for good; and what both answers hold is final.
    if (old?.status === 'final' || changes.get(key)?.status === 'final') continue;
    const option = options.find((o) => o.network === reading.network && o.address === transfer.to);
    if (option === undefined) continue;
    const kind = kindOf(
      {
        currency: transfer.asset,
        network: reading.network,
        isListedSender: reading.listed.has(transfer.from),
      },
      fixed ?? option,
      option,
    );
    const status = isFinal ? 'final' : 'seen';
    if (old?.status === status && old.kind === kind && BigInt(old.height) === transfer.height) continue;
    changes.set(key, {
      network: reading.network,
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

/** Of a token that nobody lists any number may be claimed; it is only shown. */
function shownAmount({ asset, amount }: ChainTransfer): bigint {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return asset === null && amount > most ? most : amount;
}

/** What was seen and lies in no block any more. A node that lags behind its block proves nothing. */
function vanished(
  { transactions }: PaymentView,
  reading: Reading,
  found: readonly Found[],
): TransactionChange[] {
  const { readTo, network } = reading;
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

/** Books what has become final, decides the status that follows, and frees what was held when it is `completed`. */
async function settle(
  tx: Tx,
  merchantId: string,
  plans: readonly Plan[],
  context: PaymentContext,
): Promise<void> {
  const { seconds } = context.time;
  const now = await viewsOf(
    tx,
    plans.map(({ before, fixed }) => ({ ...before.payment, ...fixesOf(fixed) })),
  );
  const outcomes = plans.map((plan, i) =>
    decide(
      { ...plan, isJudged: isCountedAmong(plan.arrived), rateMoved: rateMovedOf(plan, context) },
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

/** Credited coins are swept; whatever was final or vanished is looked at once more. */
function coinJobs(merchantId: string, plans: readonly Plan[], { realMs }: MerchantTime): JobSpec[] {
  return plans.flatMap(({ reading: { network }, arrived, minedAgain, transactions }) => [
    ...(arrived.length + minedAgain.length > 0 ? [creditedJob(merchantId, network, realMs)] : []),
    ...(transactions.some((t) => t.status !== 'seen') ? [auditJob(merchantId, network, realMs)] : []),
  ]);
}

const fixesOf = (fixed: OptionRow | undefined) => ({
  fixed_currency: fixed?.currency ?? null,
  fixed_network: fixed?.network ?? null,
});

interface Arrival extends Pick<Plan, 'before' | 'fixed' | 'arrived' | 'minedAgain'> {
  /** Late money completes only as it becomes final, or as what it counts for becomes known. */
  isJudged: boolean;
  rateMoved: boolean;
}

export const isCountedAmong = (arrived: readonly Pick<TransactionChange, 'kind'>[]) =>
  arrived.some(({ kind }) => kind === 'counted');

/**
 * What follows for a payment from transfers that arrived.
 *
 * @param now the payment with its transactions as they are written
 */
export function decide(
  { before, fixed, arrived, minedAgain, isJudged, rateMoved }: Arrival,
  now: PaymentView,
  { settings, time }: PaymentContext,
): { change: DepositChange; postings: Posting[] } {
  const { payment_id: paymentId, held_amount: heldBefore, completed_at: completedAt } = before.payment;
  const facts = factsOf(now);
  const counted = arrived.filter((t) => t.kind === 'counted');
  const status = nextStatus(facts, rulesOf(now, settings), {
    now: time.seconds,
    // Expiry waits for all networks of the payment: the job that expires it looks at them.
    mayExpire: false,
    hasNewMoney: isJudged,
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
    received_amount: receivedOf(facts.transactions),
    held_amount: completes ? 0n : held,
    completed_at: completes ? time.seconds : completedAt,
  };
  return { change, postings };
}
