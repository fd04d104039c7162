import { transact } from '../platform/db/index.ts';
import { enqueue, type Job, type JobOutcome } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { changePayment, rulesOf } from './change-payment.ts';
import { type PaymentDeps, paymentSettings } from './deps.ts';
import { isSure, laterOf, scansOf, unreadNetworks } from './look-for-money.ts';
import { factsOf, isQuoteDue } from './present.ts';
import { lockPayment, type PaymentView, readPayment } from './queries.ts';
import { nextStatus } from './states.ts';

/**
 * Handles a job of `EXPIRE_JOB`: ends a payment that nobody has paid. It waits for every network on which the payer may
 * have paid to be read beyond the expiry, and for what was seen to become final or go.
 */
export async function expirePayment(deps: PaymentDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const { merchantId } = merchant;
  const paymentId = String(job.payload.paymentId);
  const settings = await paymentSettings(deps, merchant);
  const known = await readPayment(deps.db, merchantId, paymentId);
  const { payment } = known;
  const expiresAt = Number(payment.expires_at ?? 0);
  const unread = await unreadNetworks(deps, merchant, [known], expiresAt);
  const time = merchantTime(deps, merchant);
  const soon = await laterOf(deps, merchant, unread);
  // A rate that is not there comes in real time: a clock that is moved ahead would stop at each look.
  const again = isQuoteDue(known) ? { ...soon, followsClock: false } : soon;
  const isEnding = payment.status === 'pending' && unread.length === 0 && time.seconds >= expiresAt;
  if (isEnding && !(await isSure(deps, merchant, known))) return { ...again, followsClock: false };
  // What was chosen or seen since it was looked at needs another look.
  const isAsKnown = (view: PaymentView) =>
    view.options.length === known.options.length && view.transactions.length === known.transactions.length;
  const isOver = await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchantId, paymentId);
    const status = nextStatus(factsOf(view), rulesOf(view, settings), {
      now: time.seconds,
      mayExpire: isEnding && isAsKnown(view),
      hasNewMoney: false,
      rateMoved: false,
    });
    // Nothing else follows from the time alone.
    if (status === 'expired' && view.payment.status !== 'expired')
      await changePayment(tx, view, { status }, { settings, time });
    else if (unread.length > 0) await enqueue(tx, scansOf(deps, merchant, unread));
    // A frozen payment does not expire: whoever decides of it looks at the time.
    return status !== 'pending' && status !== 'processing';
  });
  return isOver ? 'done' : again;
}
