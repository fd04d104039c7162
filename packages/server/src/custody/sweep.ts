import type { Asset, Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { ChainUnavailable, type KeyRef } from '../chains/port/index.ts';
import { creditedJob, networkOf } from '../payments/deposits/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint, enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { dollarsOf, type Rates } from '../rates/index.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import {
  decidedJob,
  isTurnedOn,
  listDecided,
  requestTransfers,
  type TransferOrder,
} from '../transfers/index.ts';
import { cancelQueued, listQueuedFromDeposits, sumPendingFromDeposit } from '../transfers/wallets/index.ts';
import { bookMovedSweeps } from './book-moved-sweeps.ts';
import { CUSTODY_SETTINGS } from './settings.ts';
import {
  claimUnswept,
  listFailedSweeps,
  listMisassigned,
  listUnswept,
  reassignLostParts,
  releaseSweeps,
  type UnsweptAddress,
} from './sweep-queries.ts';
import { isResting, selectWorthy } from './worth-sweeping.ts';

// Deposit addresses hold payers' coins; payouts and refunds leave from the hot wallet. A sweep moves coins there and books
// nothing, since the ledger's `custody` covers both. A sweep moves the balance that the chain shows at an address, and its
// parts assign it to deposits in the transaction that orders it: two sweeps never claim the same coins, and a failed sweep
// releases them.
// Seized coins stay at their deposit address until people release them: nothing can spend them there, and kept coins never
// mix with a merchant's.

export interface CustodyDeps extends Platform {
  chains: ChainRegistry;
  rates: Pick<Rates, 'priceOfCoin'>;
}

const OWNER_TYPE = 'sweep';
export const SWEPT_JOB = decidedJob(OWNER_TYPE);
/** Addresses per group, so that a run stays short. */
const SWEEPS_MAX = 50;
const RETRY_MS = 600_000;
/** Until coins that were not worth their fee are checked again. */
const UNWORTHY_RETRY_MS = 3_600_000;
/** Retry interval while a network is unreachable. */
const UNREACHABLE_RETRY_MS = 30_000;

/** Handles `CREDITED_JOB`: orders sweeps of addresses that reach the configured minimum. */
export async function sweepDeposits(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const { sweepMinimum } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  return await sweep(deps, { job, run, minimum: sweepMinimum, isUrgent: false });
}

/** Handles `INSUFFICIENT_COINS_JOB`: a transfer waits for coins, so everything is swept, however small, that is worth more than its fee. */
export async function sweepAll(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  return await sweep(deps, { job, run, minimum: 0n, isUrgent: true });
}

interface Sweep extends Pick<JobRun, 'step' | 'signal'> {
  deps: CustodyDeps;
  merchant: Merchant;
  network: Network;
  /** Addresses with less are not swept. */
  minimum: bigint;
  /** A transfer waits for the coins: what they cost to move does not matter. */
  isUrgent: boolean;
}

async function sweep(
  deps: CustodyDeps,
  { job, run, minimum, isUrgent }: { job: Job; run: JobRun; minimum: bigint; isUrgent: boolean },
): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = networkOf(job);
  const { step, signal } = { step: run.step.bind(run), signal: run.signal };
  await reassignMisassigned({ deps, merchant, network, step });
  const after = (ms: number) => ({ againAtMs: deps.clock.nowMs() + ms, followsClock: false });
  // Real money moves only where the operator has turned the network on.
  if (!(await isTurnedOn(deps.db, merchant, network))) return after(UNWORTHY_RETRY_MS);
  const own: Sweep = { deps, merchant, network, minimum, isUrgent, step, signal };
  try {
    await cancelShortSweeps(own);
    const found = await orderAll(own);
    if (found.has('behind')) return after(UNREACHABLE_RETRY_MS);
    return found.has('unworthy') && !isUrgent ? after(UNWORTHY_RETRY_MS) : 'done';
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return after(UNREACHABLE_RETRY_MS);
  }
}

/** What is left to sweep is known once the coins that sweeps took of the newest deposits are booked. */
async function reassignMisassigned({
  deps,
  merchant,
  network,
  step,
}: Pick<Sweep, 'deps' | 'merchant' | 'network' | 'step'>): Promise<void> {
  const { merchantId } = merchant;
  const sweepIds = await listMisassigned(deps.db, { merchantId, network });
  if (sweepIds.length > 0) await step((tx) => reassignLostParts(tx, merchantId, sweepIds));
}

/** Why coins stay where they are: `unworthy`, as they are worth too little, or their sweeps failed. */
type Left = 'behind' | 'unworthy';

/** Orders the sweeps of all addresses, page by page. */
async function orderAll(own: Sweep): Promise<ReadonlySet<Left>> {
  const { deps, merchant, network, minimum, signal } = own;
  const target = { merchantId: merchant.merchantId, network };
  const left = new Set<Left>();
  let after: UnsweptAddress | undefined;
  do {
    signal.throwIfAborted();
    const page = await listUnswept(deps.db, target, { minimum, after, limit: SWEEPS_MAX });
    for (const [currency, addresses] of Map.groupBy(page, (one) => one.currency)) {
      const worthy = await keepWorthy(own, await keepSound(own, currency, addresses));
      if (worthy.length < addresses.length) left.add('unworthy');
      if (worthy.length > 0 && !(await orderSweeps(own, currency, worthy))) left.add('behind');
    }
    after = page.length < SWEEPS_MAX ? undefined : page.at(-1);
  } while (after !== undefined);
  return left;
}

/** Addresses whose sweeps have failed again and again are left alone for a while. */
async function keepSound(
  { deps, merchant, network }: Sweep,
  currency: Asset,
  addresses: readonly UnsweptAddress[],
): Promise<readonly UnsweptAddress[]> {
  const keyRefs = addresses.map(({ addressIndex }) => keyOf(addressIndex));
  const target = { merchantId: merchant.merchantId, network };
  const failed = await listFailedSweeps(deps.db, target, { currency, keyRefs });
  const nowSeconds = merchantTime(deps, merchant).seconds;
  return addresses.filter(({ addressIndex }) => {
    const own = failed.get(keyOf(addressIndex));
    return own === undefined || !isResting(own, nowSeconds);
  });
}

/** Of what is swept unasked, so much is swept for a payment that waits while no price is known. */
const FLOOR_SHARE = 10n;

/** Where money is real we pay for sweeps: coins that are worth too little for now stay at their addresses. */
async function keepWorthy(
  { deps, merchant, network, isUrgent }: Sweep,
  addresses: readonly UnsweptAddress[],
): Promise<readonly UnsweptAddress[]> {
  const chain = deps.chains.of(merchant, network);
  if (merchant.mode === 'sandbox' || addresses.length === 0) return addresses;
  const { sweepsPerTx } = chain.capabilities;
  // They may be more than one transaction takes: all of them cost as much as a full one for each address.
  const count = Math.max(1, Math.min(addresses.length, sweepsPerTx));
  const { native } = await chain.estimateFee('sweep', count);
  const price = await deps.rates.priceOfCoin(network);
  const cost = price && (dollarsOf(native, price) * BigInt(addresses.length)) / BigInt(count);
  const nowSeconds = merchantTime(deps, merchant).seconds;
  const { sweepMinimum } = await readSettings(deps.db, merchant, CUSTODY_SETTINGS);
  const terms = { isUrgent, isShared: sweepsPerTx > 0, floor: sweepMinimum / FLOOR_SHARE };
  return selectWorthy(addresses, { cost, nowSeconds, ...terms });
}

const keyOf = (addressIndex: number): KeyRef => `deposit:${addressIndex}`;

/** Orders sweeps of the addresses' balances on the chain. @returns false if the node lacks the newest deposits' blocks */
async function orderSweeps(
  { deps, merchant, network, minimum, step }: Sweep,
  currency: Asset,
  addresses: readonly UnsweptAddress[],
): Promise<boolean> {
  const { merchantId } = merchant;
  const chain = deps.chains.of(merchant, network);
  const hotWallet = await chain.sender('hot');
  const { height, balances } = await chain.balances(
    addresses.map(({ address }) => address),
    currency,
    'final',
  );
  const time = merchantTime(deps, merchant);
  await step(async (tx) => {
    const groupId = newId();
    const orders: TransferOrder[] = [];
    const target = { merchantId, network };
    await bookMovedSweeps(
      tx,
      target,
      addresses.map(({ addressIndex }) => keyOf(addressIndex)),
    );
    for (const from of addresses) {
      const keyRef = keyOf(from.addressIndex);
      const coinsOf = async (within: Tx) =>
        (balances.get(from.address) ?? 0n) -
        from.seized -
        (await sumPendingFromDeposit(within, { merchantId, network, currency }, { keyRef, height }));
      const claimed = await claimUnswept(tx, target, from, { minimum, coinsOf });
      if (claimed === undefined) continue;
      const owner = { ownerType: OWNER_TYPE, ownerId: claimed.sweepId, groupId, place: orders.length };
      orders.push({
        ...owner,
        network,
        currency,
        keyRef,
        address: hotWallet,
        amount: claimed.amount,
        memo: null,
      });
    }
    await requestTransfers(tx, merchantId, orders, time);
    crashPoint('sweep.before-commit');
  });
  crashPoint('sweep.after-commit');
  return addresses.every(({ newest }) => newest <= height);
}

/** Cancels queued sweeps whose address no longer holds their coins: a reorganisation removed these. */
async function cancelShortSweeps({ deps, merchant, network, step }: Sweep): Promise<void> {
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
  const message = 'The address no longer holds the coins. Nothing was moved.';
  const nowSeconds = merchantTime(deps, merchant).seconds;
  const ended = await step(async (tx) => {
    const sweepIds = await cancelQueued(tx, merchantId, short, { message, nowSeconds });
    await releaseSweeps(tx, merchantId, sweepIds);
    await bookMovedSweeps(
      tx,
      { merchantId, network },
      queued.map(({ keyRef }) => keyRef),
    );
    return sweepIds.length;
  });
  deps.log.warn({ merchantId, network, sweeps: ended }, 'sweeps canceled: their coins are gone');
}

/**
 * Handles `SWEPT_JOB`. Coins that did not move, or that a reorganisation put back, are swept again. A sweep that is mined
 * again has moved whatever its address held, so its parts are reassigned and the rest is swept by another one.
 */
export async function settleSweeps(deps: CustodyDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { merchantId } = job;
  const groupId = String(job.payload.groupId);
  await run.step(async (tx) => {
    const decided = await listDecided(tx, merchantId, groupId);
    const unmoved = decided.filter((one) => one.status === 'failed' || one.lost_at !== null);
    if (unmoved.length > 0) await retrySweeps(tx, deps, { merchantId, unmoved });
    const moved = decided.filter((one) => one.status === 'succeeded' && one.lost_at === null);
    const networks = await reassignLostParts(
      tx,
      merchantId,
      moved.map((one) => one.owner_id),
    );
    for (const [network, swept] of Map.groupBy(decided, (one) => one.network))
      await bookMovedSweeps(
        tx,
        { merchantId, network },
        swept.map((one) => one.key_ref),
      );
    await enqueueSweeps(tx, { merchantId, networks, dueAtMs: deps.clock.nowMs() });
  });
  return 'done';
}

async function retrySweeps(
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
  // A failed sweep may fail again, so it waits; one undone by a reorganisation is retried at once.
  const waitMs = unmoved.every((one) => one.lost_at === null) ? RETRY_MS : 0;
  await enqueueSweeps(tx, { merchantId, networks, dueAtMs: deps.clock.nowMs() + waitMs });
}

async function enqueueSweeps(
  tx: Tx,
  { merchantId, networks, dueAtMs }: { merchantId: string; networks: readonly Network[]; dueAtMs: number },
): Promise<void> {
  await enqueue(
    tx,
    networks.map((network) => ({ ...creditedJob(merchantId, network, dueAtMs), followsClock: false })),
  );
}
