import type { Network } from '@florin/contract/money';
import { type Chain, ChainUnavailable, type SignedTx, type TxStatus } from '../chains/index.ts';
import { post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import type { MerchantMode } from '../tenancy/index.ts';
import { fillGap } from './fill-gap.ts';
import {
  adoptPaid,
  type Carried,
  listDecidedAttempts,
  lockAttempt,
  lockCarried,
  markDecided,
  markGone,
  markLost,
} from './final-queries.ts';
import { stopNetwork } from './network-stops.ts';
import { type AttemptRow, KEY_REF, signedOf } from './queries.ts';
import { lookAgain, type SecondLook } from './recheck.ts';
import { strayPostings } from './stray.ts';
import { decidedJob, type TransferDeps } from './work.ts';

type RecheckDeps = Pick<TransferDeps, 'db' | 'chains' | 'log' | 'clock'>;

export interface Rechecked {
  /** Transactions in those blocks, as they were known before. */
  known: number;
}

/** Who books what becomes of a charge after it was final, in the transaction that notes it; a call names its owner. */
export interface ChargeBooks {
  /** @returns false for one that is not credited yet: it is looked at again once it is */
  lose(tx: Tx, ownerId: string): Promise<boolean>;
  regain(tx: Tx, ownerId: string): Promise<void>;
}

interface Place {
  network: Network;
  above: bigint;
  upTo: bigint;
  nowSeconds: number;
}

interface Recheck {
  deps: RecheckDeps;
  merchant: { merchantId: string; mode: MerchantMode };
  chain: Chain;
  place: Place;
  books: ChargeBooks;
}

/**
 * Asks the chain once more about every attempt that it decided in its newest final blocks, however it ended. One that has
 * left its block stops the network: if it is to pay, the same bytes are sent again, which pays it once or never; if it
 * must not pay any more, another transaction takes its sequence.
 *
 * @throws ChainUnavailable
 */
export async function recheckFinal(
  deps: RecheckDeps,
  merchant: { merchantId: string; mode: MerchantMode },
  place: Place,
  books: ChargeBooks,
): Promise<Rechecked> {
  const chain = deps.chains.of(merchant, place.network);
  const recheck = { deps, merchant, chain, place, books };
  const attempts = await listDecidedAttempts(deps.db, merchant.merchantId, place);
  for (const asked of await askAll(chain, attempts)) if (!isAsBooked(asked)) await follow(recheck, asked);
  return { known: attempts.length };
}

interface Asked {
  attempt: AttemptRow;
  signed: SignedTx;
  status: TxStatus;
}

/** Asks about some at once, as nearly all of them are where they were. */
async function askAll(chain: Chain, attempts: readonly AttemptRow[]): Promise<Asked[]> {
  const asked: Asked[] = [];
  const { callsAtOnce } = chain.caps;
  for (let i = 0; i < attempts.length; i += callsAtOnce) {
    const some = attempts.slice(i, i + callsAtOnce).map(async (attempt) => {
      const signed = signedOf(attempt);
      // Where it is not as it was, once more: one answer may be a slip.
      const first = await chain.status(signed);
      return { attempt, signed, status: isAsBefore(attempt, first) ? first : await chain.status(signed) };
    });
    asked.push(...(await Promise.all(some)));
  }
  return asked;
}

const STATES = { succeeded: 'final', failed: 'failed', dead: 'dead' } as const;

const isAsBefore = ({ status }: AttemptRow, { state }: TxStatus) =>
  Object.entries(STATES).some(([known, said]) => known === status && said === state);

/** Nearly all are where they were: nothing is read or locked for them. */
function isAsBooked({ attempt, status }: Asked): boolean {
  if (attempt.gone_at !== null || attempt.differs || !isAsBefore(attempt, status)) return false;
  const didPay = attempt.status === 'succeeded';
  return status.itemOk?.every((isOk) => isOk === didPay) ?? true;
}

/**
 * Whether the books have an item otherwise than the attempt's first decision: the chain may come back to that, so it is
 * compared item by item each time.
 */
function booksDiffer(
  attempt: AttemptRow,
  items: readonly Carried[],
  { lost, found, adopted, stray }: SecondLook & { is: 'decided' },
): boolean {
  const didPay = attempt.status === 'succeeded';
  const isPaid = ({ transferId, booked }: Carried) =>
    [...found, ...adopted].includes(transferId) || (booked === 'paid' && !lost.includes(transferId));
  return stray.length > 0 || items.some((item) => isPaid(item) !== didPay);
}

async function follow(recheck: Recheck, { attempt: known, signed, status }: Asked): Promise<void> {
  const { deps, merchant, place } = recheck;
  const look = await transact(deps.db, async (tx) => {
    const attempt = await lockAttempt(tx, known);
    const items = await lockCarried(tx, attempt);
    const seen = lookAgain(status, items, recheck.chain.caps);
    if (seen.is === 'away') await noteAway(tx, recheck, { attempt, items });
    if (seen.is === 'decided') await noteDecided(tx, recheck, { attempt, items, status }, seen);
    crashPoint('recheck.before-commit');
    return { ...seen, attempt, mayPay: mayPay(attempt, items) };
  });
  const fields = { merchantId: merchant.merchantId, network: place.network, tx_id: signed.txId };
  if (look.is === 'decided') tell(deps, fields, look);
  if (look.is !== 'away') return;
  if (look.attempt.gone_at === null)
    deps.log.error(fields, 'a transaction that was final is gone: sending stops (florin networks resume)');
  if (look.mayPay) await sendAgain(recheck.chain, signed);
  else await fillGap(deps, recheck.chain, look.attempt);
}

/**
 * Whether its bytes pay anybody who is still to be paid, or move our own coins into our own wallet. Those of its transfers
 * that failed would most likely fail again; where one does not, it is booked as stray.
 */
function mayPay(attempt: AttemptRow, items: readonly Carried[]): boolean {
  if (items.length === 0 || attempt.key_ref !== KEY_REF) return true;
  return items.some(({ booked }) => booked === 'paid' || booked === 'lost');
}

async function noteAway(
  tx: Tx,
  { merchant, place, books }: Recheck,
  { attempt, items }: { attempt: AttemptRow; items: readonly Carried[] },
): Promise<void> {
  const { network, nowSeconds } = place;
  // Once: a network that a person has resumed does not stop again for the same transaction.
  if (attempt.gone_at !== null) return;
  for (const { isCharge, booked, ownerId } of items)
    if (isCharge && booked === 'paid' && !(await books.lose(tx, ownerId))) return;
  if (!(await markGone(tx, attempt, nowSeconds))) return;
  const reason = `a transaction that was final is in no block: ${attempt.tx_id}`;
  await stopNetwork(tx, merchant, network, { reason, nowSeconds });
}

async function noteDecided(
  tx: Tx,
  { deps, merchant, place, books }: Recheck,
  { attempt, items, status }: { attempt: AttemptRow; items: readonly Carried[]; status: TxStatus },
  look: SecondLook & { is: 'decided' },
): Promise<void> {
  const { merchantId } = merchant;
  const { network, nowSeconds, upTo } = place;
  const isOf = (ids: readonly string[]) => items.filter(({ transferId }) => ids.includes(transferId));
  const charges = items.filter(({ isCharge }) => isCharge);
  for (const { transferId, ownerId, booked } of charges) {
    const isLost = look.lost.includes(transferId);
    // What is not credited yet cannot be lost: it is looked at again once it is.
    if (isLost && attempt.gone_at === null && !(await books.lose(tx, ownerId))) return;
    const isBack =
      look.found.includes(transferId) || (attempt.gone_at !== null && booked === 'paid' && !isLost);
    if (isBack) await books.regain(tx, ownerId);
  }
  const lost = isOf(look.lost);
  await markLost(tx, merchantId, look.lost, nowSeconds);
  await markLost(tx, merchantId, look.found, null);
  await adoptPaid(tx, attempt, look.adopted, nowSeconds);
  const postings = strayPostings(items, { network, before: attempt.stray_ids, now: look.stray });
  await post(tx, merchantId, postings, nowSeconds);
  const isNews = lost.length + look.stray.length > 0 && attempt.gone_at === null;
  if (isNews && postings.length + lost.length > 0) {
    const reason = `a reorganisation deeper than finality changed what a transaction paid: ${attempt.tx_id}`;
    await stopNetwork(tx, merchant, network, { reason, nowSeconds });
  }
  const differs = booksDiffer(attempt, items, look);
  await markDecided(tx, attempt, { height: status.height ?? upTo, strayIds: look.stray, differs });
  const news = [
    ...lost,
    ...isOf([...look.found, ...look.adopted]),
    ...(attempt.gone_at === null ? [] : items),
  ];
  const dueAtMs = deps.clock.nowMs();
  const owners = new Map(
    news.filter(({ isCharge }) => !isCharge).map((one) => [`${one.ownerType} ${one.groupId}`, one]),
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

function tell(
  { log }: Pick<RecheckDeps, 'log'>,
  fields: { merchantId: string; network: Network; tx_id: string },
  { lost, stray }: SecondLook & { is: 'decided' },
): void {
  if (lost.length > 0)
    log.error(
      { ...fields, transfers: lost.length },
      'a reorganisation took what was paid, and it can never be paid by these bytes',
    );
  if (stray.length > 0)
    log.error(
      { ...fields, transfers: stray.length },
      'a transaction paid what was decided otherwise: the loss is the operator’s',
    );
}

async function sendAgain(chain: Chain, signed: SignedTx): Promise<void> {
  try {
    await chain.broadcast(signed);
  } catch (error) {
    // Tried again with the next look.
    if (!(error instanceof ChainUnavailable)) throw error;
  }
}
