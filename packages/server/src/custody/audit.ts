import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import { loseCharge, type PaymentDeps, regainCharge, rescanBlocks } from '../payments/index.ts';
import type { Job, JobOutcome } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime, readSettings } from '../tenancy/index.ts';
import {
  type ChargeBooks,
  checkFinalBlocks,
  findReplaced,
  forgetReplaced,
  type Replaced,
  recheckFinal,
} from '../transfers/index.ts';
import { CUSTODY_SETTINGS } from './settings.ts';

const EVERY_MS = 60_000;

/**
 * Handles a job of `AUDIT_JOB`: compares the newest final blocks once more with what was booked from them, in and out, as
 * long as they hold any of it. Whoever moves coins asks for it, so that a network on which nothing happens costs nothing.
 */
export async function auditNetwork(deps: PaymentDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const { auditBlocks } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  const again = { againAtMs: deps.clock.nowMs() + EVERY_MS };
  try {
    const { finalHeight: upTo } = await deps.chains.of(merchant, network).head();
    await checkFinalBlocks(deps, merchant, { network, newest: upTo });
    const replaced = await findReplaced(deps.db, { merchantId: merchant.merchantId, network });
    const blocks = { network, above: aboveOf(upTo, BigInt(auditBlocks), replaced), upTo };
    const { known: came } = await rescanBlocks(deps, merchant, blocks);
    const nowSeconds = merchantTime(deps, merchant).seconds;
    const books = chargeBooks(merchant.merchantId, nowSeconds);
    const { known: went } = await recheckFinal(deps, merchant, { ...blocks, nowSeconds }, books);
    if (replaced !== undefined) {
      // The new blocks have not come up to the old ones yet: what lay there is looked for later.
      if (replaced.highest > upTo) return again;
      await forgetReplaced(deps.db, { merchantId: merchant.merchantId, network }, replaced);
    }
    return came + went === 0 ? 'done' : again;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return again;
  }
}

/** Reads back to before whatever is known to be replaced. */
function aboveOf(upTo: bigint, depth: bigint, replaced: Replaced | undefined): bigint {
  const usual = upTo - depth;
  if (replaced === undefined) return usual;
  const before = replaced.intact ?? replaced.lowest - depth;
  return before < usual ? before : usual;
}

/** What a charge brought and a reorganisation took is the operator's loss, until the same bytes are final again. */
function chargeBooks(merchantId: string, seconds: number): ChargeBooks {
  return {
    lose: (tx, paymentId) => loseCharge(tx, { merchantId, paymentId }, { seconds }),
    regain: (tx, paymentId) => regainCharge(tx, { merchantId, paymentId }, { seconds }),
  };
}
