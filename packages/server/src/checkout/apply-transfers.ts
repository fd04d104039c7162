import type { Network } from '@florin/contract/money';
import type { ChainTransfer } from '../chains/index.ts';
import { post } from '../ledger/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import type { Occasion } from '../platform/occasion.ts';
import { changePayment, rulesOf } from './change-payment.ts';
import type { CheckoutSettings } from './deps.ts';
import { arrivalPostings, releaseHeldPostings } from './postings.ts';
import { factsOf, fixedOptionOf } from './present.ts';
import {
  lockPayment,
  type OptionRow,
  type PaymentView,
  type TransactionRow,
  transactionKey,
  upsertOption,
  upsertTransactions,
  viewOf,
} from './queries.ts';
import type { Quote } from './quote.ts';
import { kindOf, nextStatus, QUOTE_GRACE_SECONDS, receivedOf } from './states.ts';

// Credit happens here and nowhere else: once for each (network, tx, index), in the transaction that makes its row final,
// under the lock of its payment. A transfer that is final already is passed over, so blocks may be read again, by
// several workers at once, in any order.

/** What a reading of a network says of one payment. */
export interface Reading {
  merchantId: string;
  paymentId: string;
  network: Network;
  /** In final blocks, and in blocks after them. */
  final: readonly ChainTransfer[];
  seen: readonly ChainTransfer[];
  /** The newest block of the complete reading; undefined: what is absent may only be unread. */
  readTo: bigint | undefined;
  /** Senders that are listed. */
  listed: ReadonlySet<string>;
  /** A new quote for the option that this reading fixes, if its old one has ended. */
  freshQuote: Quote | undefined;
  rateMoved: boolean;
}

export interface Context {
  settings: CheckoutSettings;
  occasion: Occasion;
}

interface Found {
  transfer: ChainTransfer;
  isFinal: boolean;
}

const keyOf = (network: Network, { txId, index }: ChainTransfer) =>
  transactionKey({ network, tx_id: txId, index });

/** Brings a payment up to what was read. @returns it afterwards */
export async function applyTransfers(tx: Tx, reading: Reading, context: Context): Promise<PaymentView> {
  const before = await lockPayment(tx, reading.merchantId, reading.paymentId);
  const found = [
    ...reading.final.map((transfer): Found => ({ transfer, isFinal: true })),
    ...reading.seen.map((transfer): Found => ({ transfer, isFinal: false })),
  ];
  const fixed = fixedOption(before, reading, found);
  if (fixed !== undefined && before.payment.fixed_currency === null) await requote(tx, fixed, reading, found);
  const changed = transactionChanges(before, reading, { found, fixed, context });
  const gone = vanished(before, reading, found);
  // As it was a moment ago, which is how most readings end: what follows from the facts was decided with them.
  if (changed.length === 0 && gone.length === 0) return before;
  await upsertTransactions(tx, [...changed, ...gone]);
  crashPoint('deposits.transactions-written');
  return await settle(tx, { before, reading, fixed, arrived: changed.filter(isNewlyFinal(before)) }, context);
}

/** The first money seen fixes the option; it is free again when every transfer of a listed token is gone. */
function fixedOption(
  view: PaymentView,
  { network }: Reading,
  found: readonly Found[],
): OptionRow | undefined {
  const { payment, options, transactions } = view;
  const present = new Set(found.map(({ transfer }) => keyOf(network, transfer)));
  const remains = transactions.some(
    (t) => t.kind !== 'unlisted' && (t.status !== 'gone' || present.has(transactionKey(t))),
  );
  if (payment.fixed_currency !== null && (remains || found.some(({ transfer }) => transfer.asset !== null))) {
    return fixedOptionOf(view);
  }
  const [first] = found
    .map(({ transfer }) => transfer)
    .filter(({ asset }) => asset !== null)
    .toSorted((a, b) => a.time - b.time || (a.txId < b.txId ? -1 : 1) || a.index - b.index);
  return first && options.find((o) => o.network === network && o.address === first.to);
}

/** Money first seen well after its quote's end counts at a new one. */
async function requote(
  tx: Tx,
  option: OptionRow,
  { freshQuote }: Reading,
  found: readonly Found[],
): Promise<void> {
  const firstSeen = Math.min(...found.map(({ transfer }) => transfer.time));
  if (freshQuote === undefined || firstSeen <= Number(option.quote_ends_at) + QUOTE_GRACE_SECONDS) return;
  await upsertOption(tx, { ...option, ...freshQuote });
}

type TransactionChange = Omit<TransactionRow, 'final_at'> & { final_at: bigint | number | null };

function transactionChanges(
  { payment, options, transactions }: PaymentView,
  reading: Reading,
  { found, fixed, context }: { found: readonly Found[]; fixed: OptionRow | undefined; context: Context },
): TransactionChange[] {
  const known = new Map(transactions.map((t) => [transactionKey(t), t]));
  const { seconds } = context.occasion;
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
      merchant_id: payment.merchant_id,
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
      refunded_amount: old?.refunded_amount ?? 0n,
      refunding_amount: old?.refunding_amount ?? 0n,
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

interface Settling {
  before: PaymentView;
  reading: Reading;
  fixed: OptionRow | undefined;
  arrived: readonly TransactionChange[];
}

/** Books what has become final, decides the status that follows, and frees what was held when it is `completed`. */
async function settle(
  tx: Tx,
  { before, reading, fixed, arrived }: Settling,
  context: Context,
): Promise<PaymentView> {
  const { merchantId, paymentId } = reading;
  const { settings, occasion } = context;
  const fixes = { fixed_currency: fixed?.currency ?? null, fixed_network: fixed?.network ?? null };
  const now = await viewOf(tx, { ...before.payment, ...fixes });
  const facts = factsOf(now);
  const status = nextStatus(facts, rulesOf(now, settings), {
    now: occasion.seconds,
    // Expiry waits for all networks of the payment: the job that expires it looks at them.
    mayExpire: false,
    hasNewMoney: arrived.some((t) => t.kind === 'counted'),
    rateMoved: reading.rateMoved,
  });
  const wasCompleted = before.payment.status === 'completed';
  const counted = arrived.filter((t) => t.kind === 'counted');
  const heldBefore = before.payment.held_amount;
  const held = wasCompleted ? heldBefore : counted.reduce((sum, t) => sum + t.amount, heldBefore);
  const completes = status === 'completed' && !wasCompleted;
  const postings = arrived.flatMap((t) =>
    t.currency === null ? [] : arrivalPostings(paymentId, { ...t, currency: t.currency }, wasCompleted),
  );
  if (completes && fixed !== undefined) {
    const { currency, network } = fixed;
    postings.push(...releaseHeldPostings(paymentId, { currency, network, amount: held }));
  }
  await post(tx, merchantId, postings, occasion.seconds);
  crashPoint('deposits.posted');
  const change = {
    ...fixes,
    status,
    received_amount: receivedOf(facts.transactions),
    held_amount: completes ? 0n : held,
    ...(completes ? { completed_at: occasion.seconds } : {}),
  };
  return await changePayment(tx, before, change, context);
}
