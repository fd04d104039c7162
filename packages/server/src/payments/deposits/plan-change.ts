import type { Asset, Network } from '@florin/contract/money';
import type { ChainTransfer } from '../../chains/port/index.ts';
import type { Rate } from '../../rates/index.ts';
import type { PaymentContext } from '../deps.ts';
import { atBindingQuote, fixedOptionOf, isQuoteDue } from '../facts.ts';
import {
  type OptionRow,
  type PaymentView,
  type TransactionChange,
  type TransactionRow,
  transactionKey,
} from '../reads/queries.ts';
import { transactionKind } from '../states.ts';
import { fixesOf, type InOtherBlock } from './decide-arrival.ts';
import { type CreditDepth, isSmall } from './early-credit.ts';

// What a scan changes in a payment, without writing anything: `apply-transfers.ts` writes it, and `apply-scan.ts` asks
// first, so that it locks nothing where nothing changed.

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
  sanctioned: ReadonlySet<string>;
  depth: CreditDepth;
  /** Token prices in the payment's currency, as far as they were needed and available. */
  rates: ReadonlyMap<Asset, Rate>;
}

interface FoundTransfer {
  key: string;
  transfer: ChainTransfer;
  isFinal: boolean;
}

const keyOf = (network: Network, { txId, index }: ChainTransfer) =>
  transactionKey({ network, tx_id: txId, index });

/** What a scan will change in a payment. */
export interface ChangePlan {
  before: PaymentView;
  scan: PaymentScan;
  fixed: OptionRow | undefined;
  /** The money came after the fixed option's quote had ended, so the option needs a new quote. */
  isQuoteDue: boolean;
  transactions: readonly TransactionChange[];
  /** The subset of `transactions` that has become final. */
  arrived: readonly TransactionChange[];
  /** Transfers lost to a reorganisation after they were final, and in a final block again. */
  minedAgain: readonly InOtherBlock[];
  /** Transfers credited early that a reorganisation has moved to another block. */
  moved: readonly InOtherBlock[];
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
export function planChange(
  before: PaymentView,
  scan: PaymentScan,
  context: PaymentContext,
): ChangePlan | undefined {
  const read = (transfer: ChainTransfer, isFinal: boolean): FoundTransfer => ({
    key: keyOf(scan.network, transfer),
    transfer,
    isFinal,
  });
  const found = [
    ...scan.final.map((transfer) => read(transfer, true)),
    ...scan.seen.map((transfer) => read(transfer, false)),
  ];
  const gone = findVanished(before, scan, found);
  const fixedByMoney = fixedOption(before, scan, { found, gone });
  const changed = transactionChanges(before, scan, { found, fixed: fixedByMoney, context });
  const transactions = [...changed, ...gone];
  const minedAgain = findMinedAgain(before, scan);
  const moved = findMoved(before, found);
  if (transactions.length + minedAgain.length + moved.length === 0) return undefined;
  // At the quote that counts, which may be an earlier one of the same option.
  const after = atBindingQuote(viewAfter(before, fixedByMoney, transactions));
  return {
    before,
    scan,
    fixed: fixedOptionOf(after),
    isQuoteDue: isQuoteDue(after),
    transactions,
    arrived: changed.filter(isNewlyFinal(before)),
    minedAgain,
    moved,
  };
}

function findMoved({ transactions }: PaymentView, found: readonly FoundTransfer[]): InOtherBlock[] {
  const heights = new Map(found.map(({ key, transfer }) => [key, transfer.height]));
  return transactions.flatMap((t) => {
    const height = t.is_early && t.lost_at === null ? heights.get(transactionKey(t)) : undefined;
    return height === undefined || height === BigInt(t.height) ? [] : [{ ...t, height }];
  });
}

/** Lost transfers that the scan found again. They stay credited; only the operator's loss is booked back. */
function findMinedAgain({ transactions }: PaymentView, { network, final }: PaymentScan): InOtherBlock[] {
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
  { found, gone }: { found: readonly FoundTransfer[]; gone: readonly TransactionChange[] },
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
      ...(known ?? { ...fresh, sweep_id: null, lost_at: null }),
      ...change,
    });
  }
  const payment = { ...before.payment, ...fixesOf(fixed) };
  return { ...before, payment, transactions: [...transactions.values()] };
}

function transactionChanges(
  { payment, options, transactions }: PaymentView,
  scan: PaymentScan,
  {
    found,
    fixed,
    context,
  }: { found: readonly FoundTransfer[]; fixed: OptionRow | undefined; context: PaymentContext },
): TransactionChange[] {
  const known = new Map(transactions.map((t) => [transactionKey(t), t]));
  const { seconds } = context.time;
  const { confirmations, earlyUpTo } = scan.depth;
  const isSmallPayment = earlyUpTo !== undefined && isSmall({ transactions }, found, context.settings);
  const changes = new Map<string, TransactionChange>();
  for (const { key, transfer, isFinal } of found) {
    const old = known.get(key);
    // A final transfer never changes; one that is in both lists is final.
    if (old?.status === 'final' || changes.get(key)?.status === 'final') continue;
    const option = options.find((o) => o.network === scan.network && o.address === transfer.to);
    if (option === undefined) continue;
    const kind = transactionKind(
      {
        currency: transfer.asset,
        network: scan.network,
        isSanctionedSender: scan.sanctioned.has(transfer.from),
      },
      fixed ?? option,
      option,
    );
    const takesEarly = isSmallPayment && kind === 'counted';
    const isEarly = takesEarly && !isFinal && transfer.height <= earlyUpTo;
    const isCredited = isFinal || isEarly;
    const status = isCredited ? 'final' : 'seen';
    const required = (takesEarly ? confirmations.early : null) ?? confirmations.final;
    const isSame = old?.kind === kind && old.required_confirmations === required;
    if (old?.status === status && isSame && BigInt(old.height) === transfer.height) continue;
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
      held_amount: isCredited && kind === 'wrong_token' ? transfer.amount : 0n,
      height: transfer.height,
      required_confirmations: required,
      is_early: isEarly,
      seen_at: Math.min(Number(old?.seen_at ?? seconds), seconds, transfer.time),
      final_at: isCredited ? seconds : null,
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
  found: readonly FoundTransfer[],
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
