import type { EventType, PaymentStatus } from '@florin/contract/schemas';
import type { UpdateObject } from 'kysely';
import { type Change, recordEvent, recordEvents } from '../events/index.ts';
import type { Tables, Tx } from '../platform/db.ts';
import { encodeId } from '../platform/ids.ts';
import type { Occasion } from '../platform/occasion.ts';
import type { CheckoutSettings } from './deps.ts';
import { currentOption, presentPayment } from './present.ts';
import { lockPayment, type PaymentView, transactionKey, updatePayment } from './queries.ts';
import { type Rules, toleranceOf } from './states.ts';

/** What the store's settings say of a payment. */
export function rulesOf(view: PaymentView, settings: CheckoutSettings): Rules {
  const payAmount = currentOption(view)?.pay_amount ?? 0n;
  const { toleranceBasisPoints: basisPoints, toleranceMaximum: units, lateSeconds } = settings;
  return { tolerance: toleranceOf(payAmount, { basisPoints, units }), lateSeconds };
}

const STATUS_EVENTS: Partial<Record<PaymentStatus, EventType>> = {
  completed: 'payment.completed',
  frozen: 'payment.failed',
  failed: 'payment.failed',
  expired: 'payment.expired',
  cancelled: 'payment.cancelled',
};

/** Writes the change of a locked payment together with the news of it: once in each transaction that changes one. */
export async function changePayment(
  tx: Tx,
  before: PaymentView,
  change: UpdateObject<Tables, 'payment'>,
  context: ChangeContext,
): Promise<PaymentView> {
  const { merchant_id: merchantId, payment_id: paymentId } = before.payment;
  if (Object.keys(change).length > 0) await updatePayment(tx, before.payment, change);
  const after = await lockPayment(tx, merchantId, paymentId);
  const news = newsOf({ before, after }, context);
  if (news !== undefined) await recordEvent(tx, news);
  return after;
}

interface ChangeContext {
  settings: CheckoutSettings;
  occasion: Occasion;
}

export interface Changed {
  before: PaymentView;
  after: PaymentView;
}

/** The news of changes that are written: once for each payment in a transaction. */
export async function recordChanges(
  tx: Tx,
  changed: readonly Changed[],
  context: ChangeContext,
): Promise<void> {
  await recordEvents(
    tx,
    changed.flatMap((one) => newsOf(one, context) ?? []),
  );
}

function newsOf({ before, after }: Changed, { settings, occasion }: ChangeContext): Change | undefined {
  const type = eventType(before, after);
  if (type === undefined) return undefined;
  const { merchant_id: merchantId, payment_id: paymentId, store_id: storeId } = after.payment;
  return {
    merchantId,
    storeId,
    livemode: occasion.livemode,
    type,
    resource: encodeId('payment', paymentId),
    before: presentPayment(before, rulesOf(before, settings)),
    after: presentPayment(after, rulesOf(after, settings)),
    nowSeconds: occasion.seconds,
    nowMs: occasion.realMs,
  };
}

/** A new status has an event of its own; else a transfer that was decided, or money after the end, is an update. */
function eventType(before: PaymentView, after: PaymentView): EventType | undefined {
  const [from, to] = [before.payment.status, after.payment.status];
  if (from !== to) return STATUS_EVENTS[to] ?? 'payment.updated';
  const known = new Map(before.transactions.map((t) => [transactionKey(t), t]));
  const isEnded = to !== 'pending' && to !== 'processing';
  const isNews = after.transactions.some((t) => {
    const old = known.get(transactionKey(t));
    if (old === undefined) return isEnded || t.status === 'final';
    return (old.status !== t.status && t.status !== 'seen') || old.decision !== t.decision;
  });
  return isNews ? 'payment.updated' : undefined;
}
