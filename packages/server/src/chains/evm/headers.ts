import { readBytes, readQuantity, readRecord } from './node-answers.ts';

export interface Header {
  height: bigint;
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  time: number;
}

/** @throws ChainUnavailable */
export function readHeader(value: unknown): Header {
  const block = readRecord(value, 'a block');
  return {
    height: readQuantity(block.number, 'the number of a block'),
    hash: readBytes(block.hash, 'the hash of a block', 32),
    parentHash: readBytes(block.parentHash, 'the parent of a block', 32),
    time: Number(readQuantity(block.timestamp, 'the time of a block')),
  };
}
