import { isNothing, readHex, readNumber, readRecord } from './node-answers.ts';

const NO_TRANSACTIONS = '0'.repeat(64);
const MS = 1_000n;

export interface Header {
  height: bigint;
  /** The block's id: its number, then its hash. */
  hash: string;
  parentHash: string;
  /** Unix milliseconds. */
  timeMs: bigint;
  /** Unix seconds. */
  time: number;
  /** The block has no transactions. */
  isEmpty: boolean;
}

/** @returns undefined where the node does not have the block. @throws ChainUnavailable */
export function readHeader(answer: unknown): Header | undefined {
  if (isNothing(answer)) return undefined;
  const block = readRecord(answer, 'a block');
  const raw = readRecord(readRecord(block.block_header, 'the header of a block').raw_data, 'a header');
  const timeMs = readNumber(raw.timestamp, 'the time of a block');
  return {
    height: readNumber(raw.number, 'the number of a block'),
    hash: readHex(block.blockID, 'the id of a block', 32),
    parentHash: readHex(raw.parentHash, 'the parent of a block', 32),
    timeMs,
    time: Number(timeMs / MS),
    isEmpty: readHex(raw.txTrieRoot, 'the root of the transactions of a block', 32) === NO_TRANSACTIONS,
  };
}
