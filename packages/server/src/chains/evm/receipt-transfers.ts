import { NodeError } from '../rpc/node.ts';
import type { EvmNode } from './node.ts';
import { readBytes, readList, readRecord } from './node-answers.ts';
import { type LoggedTransfer, readTransferLog, type TokensByAddress } from './transfer-logs.ts';

export interface IndexedTransfer extends LoggedTransfer {
  /** Among the logs of its own transaction, from 0: the same in whichever block that is. */
  index: number;
}

type TransfersByLogIndex = ReadonlyMap<number, IndexedTransfer>;

/**
 * The transfers of each transaction by their `logIndex`, as its receipt says; undefined where the node has no receipt of it
 * in that block.
 *
 * @param endpoints how many have to answer the same
 */
export async function readReceiptTransfers(
  node: EvmNode,
  tokens: TokensByAddress,
  { endpoints, of }: { endpoints: 'one' | 'two'; of: readonly LoggedTransfer[] },
): Promise<(TransfersByLogIndex | undefined)[]> {
  const requests = of.map(({ txId }) => ({ method: 'eth_getTransactionReceipt', params: [txId] }));
  const receipts = endpoints === 'two' ? await node.agreedMany(requests) : await node.callMany(requests);
  return of.map(({ blockHash }, i) => {
    const receipt = receipts[i];
    return receipt === null || receipt instanceof NodeError
      ? undefined
      : transfersIn(receipt, blockHash, tokens);
  });
}

function transfersIn(
  value: unknown,
  blockHash: string,
  tokens: TokensByAddress,
): TransfersByLogIndex | undefined {
  const receipt = readRecord(value, 'a receipt');
  if (readBytes(receipt.blockHash, 'the block of a receipt', 32) !== blockHash) return undefined;
  const transfers = readList(receipt.logs, 'the logs of a receipt').flatMap((log, index) => {
    const transfer = readTransferLog(log, tokens);
    return transfer === undefined ? [] : [{ ...transfer, index }];
  });
  return new Map(transfers.map((transfer) => [transfer.logIndex, transfer]));
}
