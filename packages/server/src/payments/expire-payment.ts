import { transact } from '../platform/db/index.ts';
import { enqueue, type Job, type JobOutcome } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { changePayment, rulesOf } from './change-payment.ts';
import { type PaymentDeps, paymentSettings } from './deps.ts';
import { factsOf, isQuoteDue } from './facts.ts';
import { reconcileIfReachable, retryAt, scanJobs, unreadNetworks } from './invoice-pages/poll-pages.ts';
import { lockPayment, type PaymentView, readPayment } from './reads/queries.ts';
import { nextStatus } from './states.ts';

/**
 * Handles `EXPIRE_JOB`: expires an unpaid payment. Waits until every network of its options is scanned beyond the expiry,
 * and until each seen transfer is final or gone.
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
  const retry = await retryAt(deps, merchant, unread);
  // A missing rate arrives in real time; a sandbox clock that is advanced must not wait for it.
  const again = isQuoteDue(known) ? { ...retry, followsClock: false } : retry;
  const isEnding = payment.status === 'pending' && unread.length === 0 && time.seconds >= expiresAt;
  if (isEnding && !(await reconcileIfReachable(deps, merchant, known)))
    return { ...again, followsClock: false };
  // An option or transfer that is new since the read needs another check.
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
    // Time alone leads to no other status.
    if (status === 'expired' && view.payment.status !== 'expired')
      await changePayment(tx, view, { status }, { settings, time });
    else if (unread.length > 0) await enqueue(tx, scanJobs(deps, merchant, unread));
    // A frozen payment does not expire here: `decideSeizure` enqueues a new expiry job.
    return status !== 'pending' && status !== 'processing';
  });
  return isOver ? 'done' : again;
}
