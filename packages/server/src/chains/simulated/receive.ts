import type { Asset } from '@florin/contract/money';
import type { Tx } from '../../platform/db/index.ts';
import { applyChanges, BalanceChanges } from './balances.ts';
import { type ChainRow, updateChain } from './chain-queries.ts';
import { foreignTxId } from './envelope.ts';
import type { ChainId } from './tables.ts';
import { findTransaction, upsertTransaction } from './transaction-queries.ts';
import { insertTransfers } from './transfer-queries.ts';

/** One movement of a payer's transaction: of a listed token, or of another one by name. */
export type PaidTransfer = {
  from: string;
  to: string;
  amount: bigint;
  /** The sender is a payer's wallet whose balance this chain tracks and debits. */
  fromAccount?: boolean;
} & ({ asset: Asset; token?: never } | { asset: null; token: string });

/**
 * Writes a transaction that is not ours into a block. It has no bytes; its id is derived from `reference`. Does nothing
 * where the transaction exists.
 *
 * @returns its id.
 */
export async function receive(
  tx: Tx,
  id: ChainId,
  row: ChainRow,
  incoming: { transfers: PaidTransfer[]; reference: string; height: bigint; time: number },
): Promise<string> {
  const { transfers, reference, height, time } = incoming;
  const [first] = transfers;
  if (first === undefined) throw new RangeError('transfers must not be empty');
  const txId = foreignTxId(id.network, `${id.merchantId} ${reference}`);
  if ((await findTransaction(tx, id, txId)) !== undefined) return txId;
  await upsertTransaction(tx, id, {
    txId,
    origin: 'foreign',
    sender: first.from,
    sequence: null,
    raw: null,
    fee: 0n,
    arrival: row.next_arrival,
    notBefore: 0,
    height,
  });
  const rows = transfers.map(({ from, to, ...one }, index) => {
    return {
      ...one,
      txId,
      index,
      itemId: null,
      batchId: null,
      place: null,
      sender: from,
      recipient: to,
      height,
      time,
    };
  });
  await insertTransfers(tx, id, rows, row.next_transfer);
  const changes = new BalanceChanges();
  for (const { to, asset, amount } of transfers) if (asset !== null) changes.add(to, asset, amount);
  await applyChanges(tx, id, changes);
  await updateChain(tx, id, {
    next_arrival: row.next_arrival + 1n,
    next_transfer: row.next_transfer + BigInt(rows.length),
  });
  return txId;
}
