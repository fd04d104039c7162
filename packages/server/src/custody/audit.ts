import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import { loseCharge, type PaymentDeps, regainCharge, rescanBlocks } from '../payments/index.ts';
import type { Job, JobOutcome } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { merchantTime, readSettings } from '../tenancy/index.ts';
import {
  type ChargeBooks,
  checkFinalBlocks,
  deleteReplacedBlocks,
  findReplacedBlocks,
  type ReplacedBlocks,
  recheckFinal,
} from '../transfers/index.ts';
import { CUSTODY_SETTINGS } from './settings.ts';

const INTERVAL_MS = 60_000;

/**
 * Handles `AUDIT_JOB`: reads the newest final blocks again and compares them with the books, in and out. Runs every minute
 * while these blocks hold transfers of ours. Every movement of coins enqueues it, so a quiet network costs nothing.
 */
export async function auditNetwork(deps: PaymentDeps, job: Job): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const { auditBlocks } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  const again = { againAtMs: deps.clock.nowMs() + INTERVAL_MS };
  try {
    const { finalHeight: upTo } = await deps.chains.of(merchant, network).head();
    await checkFinalBlocks(deps, merchant, { network, newest: upTo });
    const replaced = await findReplacedBlocks(deps.db, { merchantId: merchant.merchantId, network });
    const blocks = { network, above: auditFrom(upTo, BigInt(auditBlocks), replaced), upTo };
    const { known: incoming } = await rescanBlocks(deps, merchant, blocks);
    const nowSeconds = merchantTime(deps, merchant).seconds;
    const books = chargeBooks(merchant.merchantId, nowSeconds);
    const { known: outgoing } = await recheckFinal(deps, merchant, { ...blocks, nowSeconds }, books);
    if (replaced !== undefined) {
      // The replacing blocks are not as high as the replaced ones yet: their transfers may still appear.
      if (replaced.highest > upTo) return again;
      await deleteReplacedBlocks(deps.db, { merchantId: merchant.merchantId, network }, replaced);
    }
    return incoming + outgoing === 0 ? 'done' : again;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return again;
  }
}

/** The audit starts after this block: before all blocks that are known to be replaced. */
function auditFrom(upTo: bigint, depth: bigint, replaced: ReplacedBlocks | undefined): bigint {
  const usual = upTo - depth;
  if (replaced === undefined) return usual;
  const before = replaced.intact ?? replaced.lowest - depth;
  return before < usual ? before : usual;
}

/** A charge lost to a reorganisation is the operator's loss until the same transaction is final again. */
function chargeBooks(merchantId: string, seconds: number): ChargeBooks {
  return {
    lose: (tx, paymentId) => loseCharge(tx, { merchantId, paymentId }, { seconds }),
    regain: (tx, paymentId) => regainCharge(tx, { merchantId, paymentId }, { seconds }),
  };
}
