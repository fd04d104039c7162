import type { Asset, Network } from '@florin/contract/money';
import { type ChainRegistry, ChainUnavailable, type KeyRef } from '../chains/index.ts';
import {
  claimUnswept,
  creditedJob,
  listUnswept,
  reassignLostParts,
  releaseSweeps,
  type UnsweptAddress,
} from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import { crashPoint, enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { merchantTime, readSettings } from '../tenancy/index.ts';
import {
  decidedJob,
  listDecided,
  listQueuedFromDeposits,
  requestTransfers,
  sumLeaving,
  type TransferOrder,
  withdrawQueued,
} from '../transfers/index.ts';
import { bookMoved } from './book-moved.ts';
import { CUSTODY_SETTINGS } from './settings.ts';

// Payers' coins lie at deposit addresses, payouts and refunds leave from the hot wallet: a sweep brings them there. It
// changes nothing in the ledger, whose custody is both places. A sweep takes what the chain shows at an address, and its
// parts say of which deposits that is, in the transaction that orders it: two sweeps never want the same coins, and one
// that failed gives them back.
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
/** When to look again at a network that cannot be asked. */
const AWAY_MS = 30_000;

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

interface Sweep extends Pick<JobRun, 'step' | 'signal'> {
  deps: CustodyDeps;
  merchant: Merchant;
  network: Network;
  /** Less than that stays where it is. */
  minimum: bigint;
}

async function sweep(
  deps: CustodyDeps,
  { job, run, minimum }: { job: Job; run: JobRun; minimum: bigint },
): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const { step, signal } = { step: run.step.bind(run), signal: run.signal };
  const again = { againAtMs: deps.clock.nowMs() + AWAY_MS, followsClock: false };
  const own: Sweep = { deps, merchant, network, minimum, step, signal };
  try {
    await endShort(own);
    const place = { merchantId: merchant.merchantId, network };
    let after: UnsweptAddress | undefined;
    let isBehind = false;
    do {
      signal.throwIfAborted();
      const page = await listUnswept(deps.db, place, { minimum, after, limit: SWEEPS_MAX });
      for (const [currency, addresses] of Map.groupBy(page, (one) => one.currency))
        isBehind = !(await orderSweeps(own, currency, addresses)) || isBehind;
      after = page.length < SWEEPS_MAX ? undefined : page.at(-1);
    } while (after !== undefined);
    return isBehind ? again : 'done';
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return again;
  }
}

const keyOf = (addressIndex: number): KeyRef => `deposit:${addressIndex}`;

/** Orders the sweeps of what lies at addresses, as the chain shows it. @returns false where the node is too far behind to say */
async function orderSweeps(
  { deps, merchant, network, minimum, step }: Sweep,
  currency: Asset,
  addresses: readonly UnsweptAddress[],
): Promise<boolean> {
  const { merchantId } = merchant;
  const chain = deps.chains.of(merchant, network);
  const home = await chain.sender('hot');
  const { height, balances } = await chain.balances(
    addresses.map(({ address }) => address),
    currency,
    'final',
  );
  const time = merchantTime(deps, merchant);
  await step(async (tx) => {
    const groupId = newId();
    const orders: TransferOrder[] = [];
    const place = { merchantId, network };
    await bookMoved(
      tx,
      place,
      addresses.map(({ addressIndex }) => keyOf(addressIndex)),
    );
    for (const from of addresses) {
      const keyRef = keyOf(from.addressIndex);
      const coinsOf = async (within: Tx) =>
        (balances.get(from.address) ?? 0n) -
        from.seized -
        (await sumLeaving(within, { merchantId, network, currency }, { keyRef, height }));
      const taken = await claimUnswept(tx, place, from, { minimum, coinsOf });
      if (taken === undefined) continue;
      const owner = { ownerType: OWNER_TYPE, ownerId: taken.sweepId, groupId };
      orders.push({ ...owner, network, currency, keyRef, address: home, amount: taken.amount, memo: null });
    }
    await requestTransfers(tx, merchantId, orders, time);
    crashPoint('sweep.before-commit');
  });
  crashPoint('sweep.after-commit');
  return addresses.every(({ newest }) => newest <= height);
}

/** Sweeps that have no transaction and not the coins for one end: a reorganisation took these away. */
async function endShort({ deps, merchant, network, step }: Sweep): Promise<void> {
  const { merchantId } = merchant;
  const queued = await listQueuedFromDeposits(deps.db, { merchantId, network });
  const chain = deps.chains.of(merchant, network);
  const short: string[] = [];
  for (const [currency, own] of Map.groupBy(queued, (one) => one.currency)) {
    const addresses = await Promise.all(own.map(({ keyRef }) => chain.sender(keyRef)));
    const { balances } = await chain.balances(addresses, currency, 'final');
    for (const [i, { transferId, amount }] of own.entries())
      if ((balances.get(addresses[i] ?? '') ?? 0n) < amount) short.push(transferId);
  }
  if (short.length === 0) return;
  const message = 'The coins do not lie at the address any more. Nothing was moved.';
  const nowSeconds = merchantTime(deps, merchant).seconds;
  const ended = await step(async (tx) => {
    const sweepIds = await withdrawQueued(tx, merchantId, short, { message, nowSeconds });
    await releaseSweeps(tx, merchantId, sweepIds);
    await bookMoved(
      tx,
      { merchantId, network },
      queued.map(({ keyRef }) => keyRef),
    );
    return sweepIds.length;
  });
  deps.log.warn({ merchantId, network, sweeps: ended }, 'sweeps ended: their coins are gone');
}

/**
 * Handles `SWEPT_JOB`: coins that did not move, or that a reorganisation put back, can be swept again; a sweep that is
 * mined again has taken whatever lay at its address, and what it left is swept by another.
 */
export async function settleSweeps(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const groupId = String(job.payload.groupId);
  await run.step(async (tx) => {
    const decided = await listDecided(tx, merchantId, groupId);
    const unmoved = decided.filter((one) => one.status === 'failed' || one.lost_at !== null);
    if (unmoved.length > 0) await tryAgain(tx, deps, { merchantId, unmoved });
    const moved = decided.filter((one) => one.status === 'succeeded' && one.lost_at === null);
    const networks = await reassignLostParts(
      tx,
      merchantId,
      moved.map((one) => one.owner_id),
    );
    for (const [network, swept] of Map.groupBy(decided, (one) => one.network))
      await bookMoved(
        tx,
        { merchantId, network },
        swept.map((one) => one.key_ref),
      );
    await sweepSoon(tx, { merchantId, networks, dueAtMs: deps.clock.nowMs() });
  });
  return 'done';
}

async function tryAgain(
  tx: Tx,
  deps: CustodyDeps,
  { merchantId, unmoved }: { merchantId: string; unmoved: Awaited<ReturnType<typeof listDecided>> },
): Promise<void> {
  const networks = await releaseSweeps(
    tx,
    merchantId,
    unmoved.map((one) => one.owner_id),
  );
  if (networks.length === 0) return;
  const reasons = [...new Set(unmoved.map((one) => one.failure_message))];
  deps.log.error({ merchantId, networks, sweeps: unmoved.length, reasons }, 'coins could not be swept');
  // What failed once may fail again; what a reorganisation undid did not.
  const waitMs = unmoved.every((one) => one.lost_at === null) ? TRY_AGAIN_MS : 0;
  await sweepSoon(tx, { merchantId, networks, dueAtMs: deps.clock.nowMs() + waitMs });
}

async function sweepSoon(
  tx: Tx,
  { merchantId, networks, dueAtMs }: { merchantId: string; networks: readonly Network[]; dueAtMs: number },
): Promise<void> {
  await enqueue(
    tx,
    networks.map((network) => ({ ...creditedJob(merchantId, network, dueAtMs), followsClock: false })),
  );
}
