import type { Network } from '@florin/contract/money';
import type { Tx } from '../../platform/db/index.ts';
import { applyChanges, BalanceChanges, readBalances } from './balances.ts';
import { BlockClock, type BlockSettings } from './block-clock.ts';
import { type ChainRow, updateChain } from './chain-queries.ts';
import { readChargeState } from './charge-state.ts';
import { payerOf, placesOf, readBody } from './envelope.ts';
import { type ExecutionState, execute, type PooledTx, placeKey, sequenceKey } from './execute.ts';
import { NETWORK_RULES } from './rules.ts';
import { findNextSequences, listUsedSequences, setNextSequences } from './sequence-queries.ts';
import type { ChainId } from './tables.ts';
import { listMempool, markGone, markIncluded, type TransactionRow } from './transaction-queries.ts';
import { findPaidPlaces, insertTransfers } from './transfer-queries.ts';

/**
 * Closes the blocks that are due since the last call: waiting transactions are included, failed or gone, in order. The
 * caller holds the lock of the chain's row, so two processes never settle the same block.
 *
 * @returns the row afterwards.
 */
export async function settle(
  tx: Tx,
  id: ChainId,
  row: ChainRow,
  { now, settings }: { now: number; settings: BlockSettings },
): Promise<ChainRow> {
  const clock = new BlockClock(row, now, settings);
  if (clock.height === row.settled_height) return row;
  const isTaken = ({ body }: PooledTx) => !isSequenced(id.network) || BigInt(body.fee) >= row.fee_floor;
  const pool = (await listMempool(tx, id)).map(toPooled).filter(isTaken);
  const moved = pool.length === 0 ? 0 : await settlePool(tx, id, pool, { clock, row });
  const changes = {
    settled_height: clock.height,
    settled_at: BigInt(clock.now),
    next_transfer: row.next_transfer + BigInt(moved),
  };
  await updateChain(tx, id, changes);
  return { ...row, ...changes };
}

function toPooled(row: TransactionRow): PooledTx {
  return { txId: row.tx_id, body: readBody(row.raw ?? ''), notBefore: Number(row.not_before) };
}

async function settlePool(
  tx: Tx,
  id: ChainId,
  pool: PooledTx[],
  { clock, row }: { clock: BlockClock; row: ChainRow },
): Promise<number> {
  const state = await loadState(tx, id, pool);
  const result = execute(id.network, pool, state, clock);
  const changes = new BalanceChanges();
  for (const movement of result.movements) {
    changes.add(movement.sender, movement.asset, -movement.amount);
    changes.add(movement.recipient, movement.asset, movement.amount);
  }
  await markGone(tx, id, result.goneTxIds);
  await markIncluded(tx, id, result.included);
  const transfers = result.movements.map((one) => ({ ...one, time: clock.timeOf(one.height) }));
  await insertTransfers(tx, id, transfers, row.next_transfer);
  await applyChanges(tx, id, changes);
  await setNextSequences(tx, id, result.nextSequence);
  return result.movements.length;
}

async function loadState(tx: Tx, id: ChainId, pool: PooledTx[]): Promise<ExecutionState> {
  const senders = [...new Set(pool.map(({ body }) => body.sender))];
  const payers = [...new Set(pool.map(({ body }) => payerOf(body)))];
  const state: ExecutionState = {
    balances: await readBalances(tx, id, payers),
    paidPlaces: new Set(),
    nextSequence: new Map(),
    usedSequences: new Set(),
    charges: await readChargeState(tx, id, pool),
  };
  if (keepsPlaces(id.network)) {
    const places = pool.flatMap(({ body }) =>
      placesOf(body).map((place) => ({ sender: payerOf(body), batchId: body.batchId, place })),
    );
    for (const { sender, batchId, place } of await findPaidPlaces(tx, id, places))
      state.paidPlaces.add(placeKey(sender, batchId, place));
  }
  if (!isSequenced(id.network)) return state;
  const next = await findNextSequences(tx, id, senders);
  for (const sender of senders) state.nextSequence.set(sender, next.get(sender) ?? 0n);
  for (const { sender, sequence } of await listUsedSequences(tx, id, state.nextSequence))
    state.usedSequences.add(sequenceKey(sender, sequence));
  return state;
}

/** Whether a contract there knows what it has paid or charged. */
const keepsPlaces = (network: Network): boolean =>
  isSequenced(network) || NETWORK_RULES[network].capabilities.windowCap;

function isSequenced(network: Network): boolean {
  return NETWORK_RULES[network].sequenced;
}
