import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import {
  type CheckoutDeps,
  creditedJob,
  loseCharge,
  readAgain,
  regainCharge,
  returnUnswept,
} from '../checkout/index.ts';
import { enqueue, type Job, type JobOutcome } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { readSettings } from '../platform/settings.ts';
import { transact } from '../platform/transact.ts';
import { getMerchant } from '../stores/index.ts';
import { type ChargeBooks, recheckFinal } from '../transfers/index.ts';
import { CUSTODY_SETTINGS } from './settings.ts';

const EVERY_MS = 60_000;

/**
 * Handles a job of `AUDIT_JOB`: compares the newest final blocks once more with what was booked from them, in and out, as
 * long as they hold any of it. Whoever moves coins asks for it, so that a network on which nothing happens costs nothing.
 */
export async function auditNetwork(deps: CheckoutDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const { auditBlocks } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  const again = { againAtMs: deps.clock.nowMs() + EVERY_MS };
  try {
    const { finalHeight: upTo } = await deps.chains.of(merchant, network).head();
    const blocks = { network, above: upTo - BigInt(auditBlocks), upTo };
    const { known: came } = await readAgain(deps, merchant, blocks);
    const nowSeconds = occasionOf(deps, merchant).seconds;
    const books = chargeBooks(merchant.merchantId, nowSeconds);
    const { known: went, failedOwners } = await recheckFinal(
      deps,
      merchant,
      { ...blocks, nowSeconds },
      books,
    );
    if (failedOwners.length > 0) await sweepAnew(deps, merchant.merchantId, failedOwners);
    return came + went === 0 ? 'done' : again;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return again;
  }
}

/** What a charge brought and a reorganisation took is the operator's loss, until the same bytes are final again. */
function chargeBooks(merchantId: string, seconds: number): ChargeBooks {
  return {
    lose: (tx, paymentId) => loseCharge(tx, { merchantId, paymentId }, { seconds }),
    regain: (tx, paymentId) => regainCharge(tx, { merchantId, paymentId }, { seconds }),
  };
}

/** Coins of sweeps that a reorganisation has undone lie at their addresses: another sweep may move them. */
async function sweepAnew(deps: CheckoutDeps, merchantId: string, sweepIds: readonly string[]): Promise<void> {
  await transact(deps.db, async (tx) => {
    const networks = await returnUnswept(tx, merchantId, sweepIds);
    const nowMs = deps.clock.nowMs();
    await enqueue(
      tx,
      networks.map((network) => creditedJob(merchantId, network, nowMs)),
    );
  });
}
