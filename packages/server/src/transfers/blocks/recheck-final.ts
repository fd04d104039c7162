import type { Network } from '@florin/contract/money';
import { type Chain, ChainUnavailable, type SignedTx, type TxStatus } from '../../chains/port/index.ts';
import { post } from '../../ledger/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import { crashPoint, enqueue } from '../../platform/jobs/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';
import { adoptVersion, readDeciding, readVersions } from '../attempts/versions.ts';
import { strayPostings } from '../books/stray.ts';
import { findPayers, unbookStrays } from '../history/paid-before.ts';
import { type AttemptRow, HOT_KEY_REF } from '../queries.ts';
import { decidedJob } from '../request-transfers.ts';
import type { TransferDeps } from '../send-context.ts';
import type { VersionStatus } from '../states.ts';
import { fillGap } from '../wallets/fill-gap.ts';
import { stopNetwork } from './network-stops.ts';
import { type Comparison, compareWithChain } from './recheck.ts';
import {
  type CarriedTransfer,
  listDecidedAttempts,
  lockAttempt,
  lockCarriedTransfers,
  markDecided,
  markFound,
  markGone,
  markLost,
  markPaidEarlier,
  setPayer,
} from './recheck-queries.ts';

type RecheckDeps = Pick<TransferDeps, 'db' | 'chains' | 'log' | 'clock'>;

export interface Rechecked {
  /** Number of attempts that were checked. */
  known: number;
}

/** Books charges that a reorganisation takes or brings back, in the transaction that records it, by the charge's owner. */
export interface ChargeBooks {
  /** @returns false for a charge that is not credited yet: it is checked again once it is */
  lose(tx: Tx, ownerId: string): Promise<boolean>;
  regain(tx: Tx, ownerId: string): Promise<void>;
}

interface RecheckRange {
  network: Network;
  above: bigint;
  upTo: bigint;
  nowSeconds: number;
}

interface RecheckContext {
  deps: RecheckDeps;
  merchant: { merchantId: string; mode: MerchantMode };
  chain: Chain;
  range: RecheckRange;
  books: ChargeBooks;
}

/**
 * Reads again the status of every attempt that was decided in the newest final blocks, however it ended. An attempt whose
 * block is gone stops the network. If it is to pay, its stored bytes are sent again, which pay once or never; if it must
 * not pay any more, another transaction takes its sequence.
 *
 * @throws ChainUnavailable
 */
export async function recheckFinal(
  deps: RecheckDeps,
  merchant: { merchantId: string; mode: MerchantMode },
  range: RecheckRange,
  books: ChargeBooks,
): Promise<Rechecked> {
  const chain = deps.chains.of(merchant, range.network);
  const context = { deps, merchant, chain, range, books };
  const attempts = await listDecidedAttempts(deps.db, merchant.merchantId, range);
  const versions = await readVersions(deps.db, attempts);
  for (const check of await readStatuses(chain, attempts, versions))
    if (!matchesBooks(check)) await applyRecheck(context, check);
  return { known: attempts.length };
}

interface StatusCheck {
  attempt: AttemptRow;
  signed: SignedTx;
  status: TxStatus;
}

/** Reads as many statuses at once as the node allows. */
async function readStatuses(
  chain: Chain,
  attempts: readonly AttemptRow[],
  versions: ReadonlyMap<string, readonly SignedTx[]>,
): Promise<StatusCheck[]> {
  const checks: StatusCheck[] = [];
  const { callsAtOnce } = chain.capabilities;
  for (let i = 0; i < attempts.length; i += callsAtOnce) {
    const some = attempts.slice(i, i + callsAtOnce).map(async (attempt) => {
      const own = versions.get(attempt.attempt_id) ?? [];
      // A changed status is read once more, as a single answer may be wrong.
      const first = await readDeciding(chain, own);
      return { attempt, ...(isUnchanged(attempt, first) ? first : await readDeciding(chain, own)) };
    });
    checks.push(...(await Promise.all(some)));
  }
  return checks;
}

const STATES = { succeeded: 'final', failed: 'failed', dead: 'dead' } as const;

const isUnchanged = ({ status, tx_id: txId }: AttemptRow, { signed, status: { state } }: VersionStatus) =>
  (signed.txId === txId || state === 'dead') &&
  Object.entries(STATES).some(([known, shown]) => known === status && shown === state);

/** Nearly all attempts are unchanged: nothing is read or locked for them. */
function matchesBooks({ attempt, signed, status }: StatusCheck): boolean {
  if (attempt.gone_at !== null || attempt.differs || !isUnchanged(attempt, { signed, status })) return false;
  if (status.paidBefore?.includes(true)) return false;
  const didPay = attempt.status === 'succeeded';
  return status.itemOk?.every((isOk) => isOk === didPay) ?? true;
}

/**
 * Whether the books of an item differ from the attempt's first decision. The chain may return to that decision, so such an
 * attempt is compared item by item each time.
 */
function booksDiffer(
  attempt: AttemptRow,
  items: readonly CarriedTransfer[],
  { lost, found, adopted, stray }: Comparison & { is: 'decided' },
): boolean {
  const didPay = attempt.status === 'succeeded';
  const isPaid = ({ transferId, booked }: CarriedTransfer) =>
    [...found, ...adopted].includes(transferId) || (booked === 'paid' && !lost.includes(transferId));
  return stray.length > 0 || items.some((item) => isPaid(item) !== didPay);
}

async function applyRecheck(
  context: RecheckContext,
  { attempt: known, signed, status }: StatusCheck,
): Promise<void> {
  const { deps, merchant, range } = context;
  const payers = await findPayers(deps.db, context.chain, known, status);
  const comparison = await transact(deps.db, async (tx) => {
    // Attempts are locked before their transfers, all in one order.
    const involved = [known, ...payers.values()].toSorted((a, b) => (a.attempt_id < b.attempt_id ? -1 : 1));
    for (const one of involved) await lockAttempt(tx, one);
    if (status.final && status.state !== 'dead') await adoptVersion(tx, known, signed);
    const attempt = await lockAttempt(tx, known);
    const items = await lockCarriedTransfers(tx, attempt);
    const result = compareWithChain(status, items, context.chain.capabilities);
    if (result.is === 'away') await recordGone(tx, context, { attempt, items });
    if (result.is === 'decided')
      await recordDecided(
        tx,
        context,
        { attempt, items, status, payers, isOtherVersion: attempt.tx_id !== known.tx_id },
        result,
      );
    crashPoint('recheck.before-commit');
    return { ...result, attempt, mayPay: mayPay(attempt, items) };
  });
  const fields = { merchantId: merchant.merchantId, network: range.network, tx_id: signed.txId };
  if (comparison.is === 'decided') logDifferences(deps, fields, comparison);
  if (comparison.is !== 'away') return;
  if (comparison.attempt.gone_at === null)
    deps.log.error(fields, 'a transaction that was final is gone: sending stops (florin networks resume)');
  if (comparison.mayPay) await rebroadcast(context.chain, signed);
  else await fillGap(deps, context.chain, comparison.attempt);
}

/**
 * Whether sending the bytes again pays somebody who is still to be paid, or sweeps our own coins. Its failed transfers would
 * most likely fail again; one that does not is booked as stray.
 */
function mayPay(attempt: AttemptRow, items: readonly CarriedTransfer[]): boolean {
  // A movement that was given up: its empty payment takes the sequence again.
  if (items.length === 0) return attempt.gap_raw === null;
  if (attempt.key_ref !== HOT_KEY_REF) return true;
  return items.some(({ booked }) => booked === 'paid' || booked === 'lost');
}

async function recordGone(
  tx: Tx,
  { deps, merchant, range, books }: RecheckContext,
  { attempt, items }: { attempt: AttemptRow; items: readonly CarriedTransfer[] },
): Promise<void> {
  const { network, nowSeconds } = range;
  // Only once: a resumed network does not stop again for the same transaction.
  if (attempt.gone_at !== null) return;
  for (const { isCharge, booked, ownerId } of items)
    if (isCharge && booked === 'paid' && !(await books.lose(tx, ownerId))) return;
  if (!(await markGone(tx, attempt, nowSeconds))) return;
  const reason = `a transaction that was final is in no block: ${attempt.tx_id}`;
  await stopNetwork(tx, merchant, network, {
    what: 'sending',
    reason,
    nowSeconds,
    nowMs: deps.clock.nowMs(),
  });
}

interface Decided {
  attempt: AttemptRow;
  items: readonly CarriedTransfer[];
  status: TxStatus;
  /** By the attempt's transfers: who paid them before. */
  payers: ReadonlyMap<string, AttemptRow>;
  /** Another version of it is mined now. */
  isOtherVersion: boolean;
}

async function recordDecided(
  tx: Tx,
  { deps, merchant, range, books }: RecheckContext,
  { attempt, items, status, payers, isOtherVersion }: Decided,
  comparison: Comparison & { is: 'decided' },
): Promise<void> {
  const { merchantId } = merchant;
  const { network, nowSeconds, upTo } = range;
  const isOf = (ids: readonly string[]) => items.filter(({ transferId }) => ids.includes(transferId));
  const charges = items.filter(({ isCharge }) => isCharge);
  for (const { transferId, ownerId, booked } of charges) {
    const isLost = comparison.lost.includes(transferId);
    // A charge that is not credited yet cannot be lost: it is checked again once it is.
    if (isLost && attempt.gone_at === null && !(await books.lose(tx, ownerId))) return;
    const isBack =
      comparison.found.includes(transferId) || (attempt.gone_at !== null && booked === 'paid' && !isLost);
    if (isBack) await books.regain(tx, ownerId);
  }
  const lost = isOf(comparison.lost);
  await markLost(tx, merchantId, comparison.lost, nowSeconds);
  await markFound(tx, attempt, comparison.found);
  const named = await nameEarlierPayers(tx, { attempt, items, payers }, comparison.earlier, nowSeconds);
  await markPaidEarlier(tx, attempt, comparison.adopted, nowSeconds);
  const postings = strayPostings(items, { network, before: attempt.stray_ids, now: comparison.stray });
  await post(tx, merchantId, postings, nowSeconds);
  const needsFollowUp = lost.length + comparison.stray.length > 0 && attempt.gone_at === null;
  if (needsFollowUp && postings.length + lost.length > 0) {
    const reason = `a reorganisation deeper than finality changed what a transaction paid: ${attempt.tx_id}`;
    await stopNetwork(tx, merchant, network, {
      what: 'sending',
      reason,
      nowSeconds,
      nowMs: deps.clock.nowMs(),
    });
  }
  const differs = booksDiffer(attempt, items, comparison);
  await markDecided(tx, attempt, { height: status.height ?? upTo, strayIds: comparison.stray, differs });
  const changed = [
    ...lost,
    ...isOf([...comparison.found, ...comparison.adopted, ...named]),
    ...(attempt.gone_at === null && !isOtherVersion ? [] : items),
  ];
  const dueAtMs = deps.clock.nowMs();
  const owners = new Map(
    changed.filter(({ isCharge }) => !isCharge).map((one) => [`${one.ownerType} ${one.groupId}`, one]),
  );
  await enqueue(
    tx,
    [...owners.values()].map(({ ownerType, groupId }) => ({
      merchantId,
      kind: decidedJob(ownerType),
      uniqueKey: groupId,
      dueAtMs,
      payload: { groupId },
    })),
  );
}

/** @returns the transfers that another attempt turned out to have paid */
async function nameEarlierPayers(
  tx: Tx,
  { attempt, items, payers }: Pick<Decided, 'attempt' | 'items' | 'payers'>,
  transferIds: readonly string[],
  nowSeconds: number,
): Promise<string[]> {
  const known = items.flatMap(({ transferId }, i): [string, AttemptRow][] => {
    const payer = payers.get(attempt.item_ids[i] ?? '');
    return payer === undefined || !transferIds.includes(transferId) ? [] : [[transferId, payer]];
  });
  await unbookStrays(tx, known, nowSeconds);
  for (const [transferId, payer] of known) await setPayer(tx, payer, [transferId]);
  return known.map(([transferId]) => transferId);
}

function logDifferences(
  { log }: Pick<RecheckDeps, 'log'>,
  fields: { merchantId: string; network: Network; tx_id: string },
  { lost, stray }: Comparison & { is: 'decided' },
): void {
  if (lost.length > 0)
    log.error(
      { ...fields, transfers: lost.length },
      'a reorganisation took a payment, and its bytes can never pay it',
    );
  if (stray.length > 0)
    log.error(
      { ...fields, transfers: stray.length },
      'a transaction paid transfers that were decided otherwise: the operator bears the loss',
    );
}

async function rebroadcast(chain: Chain, signed: SignedTx): Promise<void> {
  try {
    await chain.broadcast(signed);
  } catch (error) {
    // The next audit tries again.
    if (!(error instanceof ChainUnavailable)) throw error;
  }
}
