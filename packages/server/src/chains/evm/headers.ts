import { asBytes, asObject, asQuantity } from './hex.ts';

export interface Header {
  height: bigint;
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  time: number;
}

/** @throws ChainUnavailable */
export function readHeader(value: unknown): Header {
  const block = asObject(value, 'a block');
  return {
    height: asQuantity(block.number, 'the number of a block'),
    hash: asBytes(block.hash, 'the hash of a block', 32),
    parentHash: asBytes(block.parentHash, 'the parent of a block', 32),
    time: Number(asQuantity(block.timestamp, 'the time of a block')),
  };
}
