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

/** keccak-256 of `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_TOPICS = 3;
const MS = 1_000n;

/** A transfer of a listed token above 0, as its log says: what the call returned is not believed. */
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
 * The transfers in a block, by the answer of `gettransactioninfobyblocknum`.
 *
 * @returns undefined where the answer names no transaction: the block has none, or the node does not have the block
 * @throws ChainUnavailable
 */
export function readBlockTransfers(
  answer: unknown,
  height: bigint,
  tokens: TokensByAccount,
): LoggedTransfer[] | undefined {
  const infos = readList(answer, 'the transactions of a block');
  if (infos.length === 0) return undefined;
  const found: LoggedTransfer[] = [];
  let before = 0;
  for (const one of infos) {
    const info = readRecord(one, 'a transaction');
    if (readNumber(info.blockNumber, 'the block of a transaction') !== height)
      throw unusable('a transaction is of another block than was asked for');
    const logs = readList(info.log ?? [], 'the logs of a transaction');
    const place = {
      txId: readHex(info.id, 'the id of a transaction', 32),
      height,
      time: Number(readNumber(info.blockTimeStamp, 'the time of a block') / MS),
    };
    for (const [index, log] of logs.entries()) {
      const transfer = readTransferLog(log, tokens);
      if (transfer !== undefined) found.push({ ...transfer, ...place, index, logIndex: before + index });
    }
    before += logs.length;
  }
  return found;
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
