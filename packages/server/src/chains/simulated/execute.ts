import type { Asset, Network } from '@florin/contract/money';
import type { BlockClock } from './block-clock.ts';
import {
  type ChargeBody,
  type ChargeState,
  recordCharge,
  refuseCharge,
  type WindowUse,
} from './charge-rules.ts';
import { payerOf, placesOf, type TransferBody } from './envelope.ts';
import { NETWORK_RULES } from './rules.ts';
import { testAddresses } from './test-addresses.ts';

/*
 * Executes the mempool's transactions in the open blocks. Pure: the state goes in, the outcome comes out, and `settle`
 * writes it.
 *
 * A waiting transaction is included in the first open block that may hold it, is gone when that block is past its validity,
 * or keeps waiting. On erc20 the sequences of a sender are used without a gap, each once.
 */

/** A transaction in the mempool. */
export interface PooledTx {
  txId: string;
  body: TransferBody;
  /** Unix seconds before which no block includes it; 0 for ordinary ones. */
  notBefore: number;
}

/** The part of the chain's state that the waiting transactions read and change. */
export interface ExecutionState {
  /** `balanceKey` of every account that a transaction in the pool debits → units. */
  balances: Map<string, bigint>;
  /** `placeKey` of places that were paid before, where a contract keeps them: on erc20, and of charges where there is a collector. */
  paidPlaces: Set<string>;
  /** Sender → lowest sequence not used. */
  nextSequence: Map<string, bigint>;
  /** `sequenceKey` of those used above it. */
  usedSequences: Set<string>;
  charges: ChargeState;
}

export interface IncludedTx {
  txId: string;
  height: bigint;
  itemOk: boolean[];
  /** An earlier transaction, or an earlier item of this one, has paid the item's place. */
  paidBefore: boolean[];
  reason: string | null;
}

export interface Movement {
  txId: string;
  index: number;
  itemId: string;
  batchId: string;
  place: number;
  asset: Asset;
  sender: string;
  recipient: string;
  amount: bigint;
  height: bigint;
  /** Set for a charge. */
  charge?: Omit<WindowUse, 'amount'>;
}

export interface Execution {
  included: IncludedTx[];
  movements: Movement[];
  goneTxIds: string[];
  nextSequence: Map<string, bigint>;
}

export const balanceKey = (address: string, asset: string): string => `${address} ${asset}`;
export const placeKey = (sender: string, batchId: string, place: number): string =>
  `${sender} ${batchId} ${place}`;
export const sequenceKey = (sender: string, sequence: bigint): string => `${sender} ${sequence}`;

const PAID_BEFORE = 'already_paid';

type Due = { tx: PooledTx; height: bigint };
type Schedule = { due: Due[]; waiting: PooledTx[]; goneTxIds: string[] };

/** Executes the transactions whose block has come. `pool` is in order of arrival. */
export function execute(
  network: Network,
  pool: PooledTx[],
  state: ExecutionState,
  clock: BlockClock,
): Execution {
  const schedule = scheduleByTime(pool, clock);
  const result: Execution = {
    included: [],
    movements: [],
    goneTxIds: schedule.goneTxIds,
    nextSequence: new Map(state.nextSequence),
  };
  const due = NETWORK_RULES[network].sequenced
    ? keepSequencesWithoutGap(schedule, state, result)
    : schedule.due;
  const inOrder = due.sort((a, b) => Number(a.height - b.height));
  for (const one of inOrder) executeOne({ network, clock }, one, state, result);
  return result;
}

function scheduleByTime(pool: PooledTx[], clock: BlockClock): Schedule {
  const schedule: Schedule = { due: [], waiting: [], goneTxIds: [] };
  for (const tx of pool) {
    const height = clock.firstBlockAt(tx.notBefore);
    const isDue = tx.notBefore <= clock.now && height <= clock.height;
    const expired = isDue
      ? isExpired(tx.body, height, clock.timeOf(height))
      : isExpired(tx.body, clock.height + 1n, clock.now);
    if (expired) schedule.goneTxIds.push(tx.txId);
    else if (isDue) schedule.due.push({ tx, height });
    else schedule.waiting.push(tx);
  }
  return schedule;
}

/** Whether a block of that height and time (Unix seconds) can no longer hold it. */
export function isExpired(body: TransferBody, height: bigint, time: number): boolean {
  if (body.expirationMs !== undefined) return time * 1000 >= body.expirationMs;
  return body.lastValidHeight !== undefined && height > BigInt(body.lastValidHeight);
}

/**
 * The one difference from Ethereum: a transaction delayed for the `stuck` address keeps its sequence but does not block
 * later ones. On Ethereum the whole wallet would wait for the hour, and one test payout would block all others of a sandbox
 * merchant. A sequence that was never broadcast is a gap and does block.
 */
function keepSequencesWithoutGap(schedule: Schedule, state: ExecutionState, result: Execution): Due[] {
  const kept: Due[] = [];
  const passable = new Set(schedule.waiting.map((tx) => sequenceKey(tx.body.sender, sequenceOf(tx))));
  for (const key of state.usedSequences) passable.add(key);
  const used = new Set(state.usedSequences);
  const cursors = new Map(state.nextSequence);
  /** Sender → the block of the last one kept: a later sequence is never in an earlier block. */
  const lastHeight = new Map<string, bigint>();
  for (const { tx, height } of schedule.due.toSorted((a, b) =>
    sequenceOf(a.tx) < sequenceOf(b.tx) ? -1 : 1,
  )) {
    const { sender } = tx.body;
    const sequence = sequenceOf(tx);
    let cursor = cursors.get(sender) ?? 0n;
    while (cursor < sequence && passable.has(sequenceKey(sender, cursor))) cursor++;
    cursors.set(sender, cursor);
    if (cursor !== sequence) continue;
    passable.add(sequenceKey(sender, sequence));
    used.add(sequenceKey(sender, sequence));
    const previous = lastHeight.get(sender) ?? 0n;
    const wasHeldBack = tx.notBefore > 0;
    kept.push({ tx, height: wasHeldBack || height > previous ? height : previous });
    if (!wasHeldBack && height > previous) lastHeight.set(sender, height);
  }
  advanceSequences(kept, used, result.nextSequence);
  return kept;
}

function advanceSequences(kept: Due[], used: Set<string>, nextSequence: Map<string, bigint>): void {
  for (const sender of new Set(kept.map(({ tx }) => tx.body.sender))) {
    let next = nextSequence.get(sender) ?? 0n;
    while (used.has(sequenceKey(sender, next))) next++;
    nextSequence.set(sender, next);
  }
}

function sequenceOf(tx: PooledTx): bigint {
  return BigInt(tx.body.sequence ?? '0');
}

function executeOne(
  { network, clock }: { network: Network; clock: BlockClock },
  { tx, height }: Due,
  state: ExecutionState,
  result: Execution,
): void {
  const undo: [string, bigint][] = [];
  const context = { state, undo, time: clock.timeOf(height) };
  const places = placesOf(tx.body);
  const reasons = tx.body.items.map((item, i) =>
    moveItem(network, tx.body, { ...item, place: places[i] ?? i }, context),
  );
  const reason = reasons.find((found) => found !== undefined) ?? null;
  const undone = !NETWORK_RULES[network].capabilities.partialBatch && reason !== null;
  if (undone) for (const [key, balance] of undo.reverse()) state.balances.set(key, balance);
  const itemOk = reasons.map((found) => found === undefined && !undone);
  const paidBefore = reasons.map((found) => found === PAID_BEFORE);
  result.included.push({ txId: tx.txId, height, itemOk, paidBefore, reason });
  const { asset, batchId, charge } = tx.body;
  const sender = payerOf(tx.body);
  const window = charge && { mandateId: charge.mandate.mandateId, ...windowOf(charge) };
  for (const [index, item] of tx.body.items.entries()) {
    const amount = BigInt(item.amount);
    // An empty payment moves nothing.
    if (!itemOk[index] || amount === 0n) continue;
    const position = {
      txId: tx.txId,
      index,
      itemId: item.id,
      batchId,
      place: places[index] ?? index,
      height,
    };
    const movement = { ...position, asset, sender, recipient: item.to, amount };
    result.movements.push(window === undefined ? movement : { ...movement, charge: window });
  }
}

const windowOf = ({ subscriptionId, windowStart, windowEnd }: ChargeBody) => ({
  subscriptionId,
  windowStart,
  windowEnd,
});

/** Whether a contract keeps what it has paid or charged: the same place or charge is none a second time. */
const isOnce = (network: Network, { charge }: TransferBody): boolean =>
  network === 'erc20' || (charge !== undefined && NETWORK_RULES[network].capabilities.windowCap);

/** Moves one item in the state; returns the reason when it cannot. `undo` collects the balances before. */
function moveItem(
  network: Network,
  body: TransferBody,
  item: TransferBody['items'][number] & { place: number },
  { state, undo, time }: { state: ExecutionState; undo: [string, bigint][]; time: number },
): string | undefined {
  if (item.to === testAddresses(network).fail) return 'execution_reverted';
  const payer = payerOf(body);
  const paid = placeKey(payer, body.batchId, item.place);
  if (state.paidPlaces.has(paid)) return PAID_BEFORE;
  const amount = BigInt(item.amount);
  const from = balanceKey(payer, body.asset);
  const balance = state.balances.get(from) ?? 0n;
  const pull = { amount, account: from, balance, time };
  const refusal = body.charge && refuseCharge(network, body.charge, pull, state.charges);
  if (refusal !== undefined) return refusal;
  if (balance < amount) return 'insufficient_balance';
  if (body.charge !== undefined) recordCharge(body.charge, pull, state.charges);
  undo.push([from, balance]);
  state.balances.set(from, balance - amount);
  const to = balanceKey(item.to, body.asset);
  const received = state.balances.get(to);
  // Only senders' balances matter here; the recipients' are written from the movements.
  if (received !== undefined) {
    undo.push([to, received]);
    state.balances.set(to, received + amount);
  }
  if (isOnce(network, body)) state.paidPlaces.add(paid);
  return undefined;
}
