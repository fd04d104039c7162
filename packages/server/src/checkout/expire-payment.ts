import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import { enqueue, type Job, type JobOutcome } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { getMerchant } from '../stores/index.ts';
import { changePayment, rulesOf } from './change-payment.ts';
import { listCursors } from './deposit-queries.ts';
import { type CheckoutDeps, checkoutSettings, type MerchantRef } from './deps.ts';
import { findMissed } from './find-missed.ts';
import { scanJob } from './jobs.ts';
import { factsOf } from './present.ts';
import { lockPayment, type PaymentView, readPayment } from './queries.ts';
import { nextStatus } from './states.ts';

const AGAIN_SECONDS = 5;

/**
 * Handles a job of `EXPIRE_JOB`: ends a payment that nobody has paid. It waits for every network on which the payer may
 * have paid to be read beyond the expiry, and for what was seen to become final or go.
 */
export async function expirePayment(deps: CheckoutDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const { merchantId } = merchant;
  const paymentId = String(job.payload.paymentId);
  const settings = await checkoutSettings(deps, merchant);
  const known = await readPayment(deps.db, merchantId, paymentId);
  const { payment, options } = known;
  const expiresAt = Number(payment.expires_at ?? 0);
  const cursors = await listCursors(deps.db, merchantId);
  const isRead = (network: Network) =>
    cursors.some((cursor) => cursor.network === network && Number(cursor.read_at) >= expiresAt);
  const unread = options.map(({ network }) => network).filter((network) => !isRead(network));
  const occasion = occasionOf(deps, merchant);
  // While a network is away it is looked for in real time: a clock that is moved ahead would stop at each look.
  const followsClock = await canRead(deps, merchant, unread);
  const again = { againAtMs: occasion.realMs + AGAIN_SECONDS * 1000, followsClock };
  const isEnding = payment.status === 'pending' && unread.length === 0 && occasion.seconds >= expiresAt;
  if (isEnding && !(await isSure(deps, merchant, known))) return { ...again, followsClock: false };
  const isOver = await transact(deps.db, async (tx) => {
    const view = await lockPayment(tx, merchantId, paymentId);
    const status = nextStatus(factsOf(view), rulesOf(view, settings), {
      now: occasion.seconds,
      mayExpire: unread.length === 0,
      hasNewMoney: false,
      rateMoved: false,
    });
    // Nothing else follows from the time alone.
    if (status === 'expired' && view.payment.status !== 'expired')
      await changePayment(tx, view, { status }, { settings, occasion });
    else if (unread.length > 0)
      await enqueue(
        tx,
        unread.map((network) => scanJob(merchantId, network, occasion.realMs)),
      );
    // A frozen payment does not expire: whoever decides of it looks at the time.
    return status !== 'pending' && status !== 'processing';
  });
  return isOver ? 'done' : again;
}

async function canRead(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  networks: readonly Network[],
): Promise<boolean> {
  return await unlessAway(async () => {
    for (const network of networks) await deps.chains.of(merchant, network).head();
  });
}

/** Looks for money that no reading has found. */
async function isSure(deps: CheckoutDeps, merchant: MerchantRef, known: PaymentView): Promise<boolean> {
  return await unlessAway(() => findMissed(deps, merchant, known));
}

/** @returns false where a network cannot be asked */
async function unlessAway(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (error instanceof ChainUnavailable) return false;
    throw error;
  }
}
