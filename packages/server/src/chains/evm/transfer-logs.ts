import type { Asset } from '@florin/contract/money';
import { formatErc20Address } from '../addresses/erc20.ts';
import type { EvmNetwork } from './network.ts';
import { readBytes, readQuantity, readRecord } from './node-answers.ts';

/** keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_TOPICS = 3;

/** A transfer of a listed token above 0, as its log says. */
export interface LoggedTransfer {
  asset: Asset;
  from: string;
  to: string;
  /** Net of a token's own fee. */
  amount: bigint;
  txId: string;
  height: bigint;
  blockHash: string;
  /** Among the logs of its block; changes when the transaction moves to another block. */
  logIndex: number;
}

export type TokensByAddress = ReadonlyMap<string, Asset>;

/** By address in small letters. */
export function tokensByAddress({ tokens }: Pick<EvmNetwork, 'tokens'>): TokensByAddress {
  const { USDT, USDC } = tokens;
  const entries: [string, Asset][] = [];
  if (USDT !== undefined) entries.push([USDT.address.toLowerCase(), 'USDT']);
  if (USDC !== undefined) entries.push([USDC.address.toLowerCase(), 'USDC']);
  return new Map(entries);
}

/**
 * Reads one log. Other tokens, other events, transfers of 0 and logs that a reorganisation removed are undefined.
 *
 * @throws ChainUnavailable where it is no log
 */
export function readTransferLog(value: unknown, tokens: TokensByAddress): LoggedTransfer | undefined {
  const log = readRecord(value, 'a log');
  const asset = tokens.get(readBytes(log.address, 'the address of a log', 20));
  const topics = Array.isArray(log.topics) ? log.topics : [];
  if (asset === undefined || topics[0] !== TRANSFER_TOPIC || topics.length !== TRANSFER_TOPICS)
    return undefined;
  if (log.removed === true) return undefined;
  const amount = readQuantity(
    readBytes(log.data, 'the amount of a transfer', 32),
    'the amount of a transfer',
  );
  if (amount === 0n) return undefined;
  return {
    asset,
    from: addressIn(topics[1]),
    to: addressIn(topics[2]),
    amount,
    txId: readBytes(log.transactionHash, 'the transaction of a log', 32),
    height: readQuantity(log.blockNumber, 'the block of a log'),
    blockHash: readBytes(log.blockHash, 'the block of a log', 32),
    logIndex: Number(readQuantity(log.logIndex, 'the place of a log')),
  };
}

function addressIn(topic: unknown): string {
  return formatErc20Address(Buffer.from(readBytes(topic, 'an account of a transfer', 32).slice(26), 'hex'));
}

/** In the order of the chain. */
export function byPlace(a: LoggedTransfer, b: LoggedTransfer): number {
  if (a.height !== b.height) return a.height < b.height ? -1 : 1;
  return a.logIndex - b.logIndex;
}
