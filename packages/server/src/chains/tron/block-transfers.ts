import type { Asset } from '@florin/contract/money';
import type { PlacedTransfer } from '../blocks/scan.ts';
import { type TokensByAccount, TRANSFER_TOPIC } from './listed-tokens.ts';
import {
  readAddressWord,
  readHex,
  readList,
  readNumber,
  readRecord,
  readWord,
  unusable,
} from './node-answers.ts';
import { outcomeOf } from './outcome.ts';

const TRANSFER_TOPICS = 3;
const MS = 1_000n;

/** A transfer of a listed token above 0, as its log says; what the call returned is not believed, as USDT returns false. */
export interface LoggedTransfer extends PlacedTransfer {
  asset: Asset;
  from: string;
  amount: bigint;
  txId: string;
  /** Among the logs of its own transaction, from 0: the same in whichever block that is. */
  index: number;
  /** Unix seconds of its block. */
  time: number;
}

/**
 * The transfers in a block, by the infos of its transactions as they are kept (`reduced.ts`): of calls that succeeded alone.
 *
 * @throws ChainUnavailable
 */
export function readBlockTransfers(
  infos: readonly Record<string, unknown>[],
  height: bigint,
  tokens: TokensByAccount,
): LoggedTransfer[] {
  const found: LoggedTransfer[] = [];
  let before = 0;
  for (const info of infos) {
    const transfers = readTransfers(info, tokens);
    const place = {
      txId: readHex(info.id, 'the id of a transaction', 32),
      height,
      time: Number(readNumber(info.blockTimeStamp, 'the time of a block') / MS),
    };
    for (const { index, ...transfer } of transfers)
      found.push({ ...transfer, ...place, index, logIndex: before + index });
    before += Number(readNumber(info.logs, 'the number of logs of a transaction'));
  }
  return found;
}

/** In order; `index` is the place among all logs of the transaction. @throws ChainUnavailable where it is not clear whether it succeeded */
export function readTransfers(info: Record<string, unknown>, tokens: TokensByAccount) {
  const outcome = outcomeOf(info);
  if (outcome === 'failed') return [];
  const logs = readList(info.log ?? [], 'the logs of a transaction');
  const transfers = logs.flatMap((log) => readTransferLog(log, tokens) ?? []);
  if (outcome === 'unclear' && transfers.length > 0)
    throw unusable('whether a transaction with transfers succeeded is not clear');
  return transfers;
}

/** Other tokens, other events and transfers of 0 are undefined. */
function readTransferLog(value: unknown, tokens: TokensByAccount) {
  const log = readRecord(value, 'a log');
  const asset = tokens.get(readHex(log.address, 'the address of a log', 20));
  const topics = readList(log.topics ?? [], 'the topics of a log');
  if (asset === undefined || topics.length === 0) return undefined;
  if (readHex(topics[0], 'a topic', 32) !== TRANSFER_TOPIC || topics.length !== TRANSFER_TOPICS)
    return undefined;
  const amount = readWord(log.data, 'the amount of a transfer');
  if (amount === 0n) return undefined;
  const from = readAddressWord(topics[1], 'an account of a transfer');
  const to = readAddressWord(topics[2], 'an account of a transfer');
  return { asset, from, to, amount, index: Number(readNumber(log.place, 'the place of a log')) };
}
