import type { Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { creditedJob, returnUnswept, takeUnswept } from '../checkout/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import { newId } from '../platform/ids.ts';
import { enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import type { Platform } from '../platform/platform.ts';
import { readSettings } from '../platform/settings.ts';
import { getMerchant } from '../stores/index.ts';
import { decidedJob, listDecided, requestTransfers, type TransferOrder } from '../transfers/index.ts';
import { CUSTODY_SETTINGS } from './settings.ts';

// Payers' coins lie at deposit addresses, payouts and refunds leave from the hot wallet: a sweep brings them there. It
// changes nothing in the ledger, whose custody is both places. Each credited transfer belongs to one sweep, named in its
// row in the transaction that orders the sweep, so two sweeps never want the same coins; one that failed gives them back.
// Seized coins stay where they are until people release them: at an address of their own nothing can spend them, and
// what is kept for good never mixes with a merchant's coins.

export interface CustodyDeps extends Platform {
  chains: ChainRegistry;
}

const OWNER_TYPE = 'sweep';
export const SWEPT_JOB = decidedJob(OWNER_TYPE);
/** Addresses swept in one group, so that a run of it stays short. */
const SWEEPS_MAX = 50;
const TRY_AGAIN_MS = 600_000;

/** Handles the news that coins were credited: orders the sweep of what is worth it. */
export async function sweepDeposits(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const { sweepMinimum } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  return await sweep(deps, { job, run, minimum: sweepMinimum });
}

/** Handles the news that a payment waits for coins: what else is not worth a fee is needed now. */
export async function sweepAll(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  return await sweep(deps, { job, run, minimum: 0n });
}

async function sweep(
  deps: CustodyDeps,
  { job, run, minimum }: { job: Job; run: JobRun; minimum: bigint },
): Promise<JobOutcome> {
  const { merchantId } = job;
  const network = job.payload.network as Network;
  const merchant = await getMerchant(deps.db, merchantId);
  const home = await deps.chains.of(merchant, network).sender('hot');
  const occasion = occasionOf(deps, merchant);
  const count = await run.step(async (tx) => {
    const coins = await takeUnswept(tx, { merchantId, network }, { minimum, limit: SWEEPS_MAX });
    for (const [currency, own] of Map.groupBy(coins, (one) => one.currency)) {
      const groupId = newId();
      const orders = own.map(
        ({ sweepId, addressIndex, amount }): TransferOrder => ({
          ownerType: OWNER_TYPE,
          ownerId: sweepId,
          groupId,
          network,
          currency,
          keyRef: `deposit:${addressIndex}`,
          address: home,
          amount,
          memo: null,
        }),
      );
      await requestTransfers(tx, merchantId, orders, occasion);
    }
    crashPoint('sweep.before-commit');
    return coins.length;
  });
  crashPoint('sweep.after-commit');
  return count < SWEEPS_MAX ? 'done' : { againAtMs: deps.clock.nowMs() };
}

/** Handles `SWEPT_JOB`: coins that did not move can be swept again. */
export async function settleSweeps(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const groupId = String(job.payload.groupId);
  await run.step(async (tx) => {
    const failed = (await listDecided(tx, merchantId, groupId)).filter((one) => one.status === 'failed');
    if (failed.length > 0) await tryAgain(tx, deps, { merchantId, failed });
  });
  return 'done';
}

async function tryAgain(
  tx: Tx,
  deps: CustodyDeps,
  { merchantId, failed }: { merchantId: string; failed: Awaited<ReturnType<typeof listDecided>> },
): Promise<void> {
  const networks = await returnUnswept(
    tx,
    merchantId,
    failed.map((one) => one.owner_id),
  );
  if (networks.length === 0) return;
  const reasons = [...new Set(failed.map((one) => one.failure_message))];
  deps.log.error({ merchantId, networks, sweeps: failed.length, reasons }, 'coins could not be swept');
  const dueAtMs = deps.clock.nowMs() + TRY_AGAIN_MS;
  await enqueue(
    tx,
    networks.map((network) => ({ ...creditedJob(merchantId, network, dueAtMs), followsClock: false })),
  );
}
