import { ASSETS, type Asset } from '@florin/contract/money';
import { accountOfTron } from '@florin/signer/tron';
import type { PlacedTransfer } from '../blocks/scan.ts';
import type { TronNetwork } from './network.ts';
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

/** keccak-256 of `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
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

/** By the contract's account as logs have it: 20 bytes, hex. */
export type TokensByAccount = ReadonlyMap<string, Asset>;

export function tokensByAccount({ tokens }: Pick<TronNetwork, 'tokens'>): TokensByAccount {
  return new Map(
    ASSETS.flatMap((asset) => {
      const contract = tokens[asset]?.contract;
      return contract === undefined ? [] : [[accountOfTron(contract).slice(2).toLowerCase(), asset] as const];
    }),
  );
}

/**
 * The transfers in a block, by the infos of its transactions: of calls that succeeded alone.
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
    const logs = readList(info.log ?? [], 'the logs of a transaction');
    const transfers = readTransfers(info, tokens);
    const place = {
      txId: readHex(info.id, 'the id of a transaction', 32),
      height,
      time: Number(readNumber(info.blockTimeStamp, 'the time of a block') / MS),
    };
    for (const { index, ...transfer } of transfers)
      found.push({ ...transfer, ...place, index, logIndex: before + index });
    before += logs.length;
  }
  return found;
}

/** By their place among the logs of the transaction. @throws ChainUnavailable where it is not clear whether it succeeded */
export function readTransfers(info: Record<string, unknown>, tokens: TokensByAccount) {
  const outcome = outcomeOf(info);
  if (outcome === 'failed') return [];
  const logs = readList(info.log ?? [], 'the logs of a transaction');
  const transfers = logs.flatMap((log, index) => {
    const transfer = readTransferLog(log, tokens);
    return transfer === undefined ? [] : [{ ...transfer, index }];
  });
  if (outcome === 'unclear' && transfers.length > 0)
    throw unusable('whether a transaction with transfers succeeded is not clear');
  return transfers;
}

/** Other tokens, other events and transfers of 0 are undefined. */
function readTransferLog(value: unknown, tokens: TokensByAccount) {
  const log = readRecord(value, 'a log');
  const asset = tokens.get(readHex(log.address, 'the address of a log', 20));
  const topics = readList(log.topics ?? [], 'the topics of a log');
  if (asset === undefined || topics[0] !== TRANSFER_TOPIC || topics.length !== TRANSFER_TOPICS)
    return undefined;
  const amount = readWord(log.data, 'the amount of a transfer');
  if (amount === 0n) return undefined;
  const from = readAddressWord(topics[1], 'an account of a transfer');
  return { asset, from, to: readAddressWord(topics[2], 'an account of a transfer'), amount };
}
