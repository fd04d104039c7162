import { type Address, getAddress, type Hex } from 'viem';
import { answerReader } from '../rpc/read-answers.ts';
import { type FeeHistory, HISTORY_BLOCKS, TIP_PERCENTILE } from './fees.ts';
import type { EvmNode } from './node.ts';

// What a node answers is read field by field: anything but the expected form is `ChainUnavailable`.

const reader = answerReader('erc20');
export const { unusable, readRecord, readList, orUnavailable } = reader;

/** What reading needs of a node. */
export type NodeReads = Pick<EvmNode, 'call' | 'agreed' | 'callMany'>;

/** For reads: a node that refuses one, as it has pruned that state, is as good as away. */
export function readsOf(node: EvmNode): NodeReads {
  return {
    call: (method, params) => reader.orUnavailable(node.call(method, params)),
    agreed: (method, params) => reader.orUnavailable(node.agreed(method, params)),
    callMany: (requests) => reader.orUnavailable(node.callMany(requests)),
  };
}

const QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;

export function readQuantity(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw unusable(`${name} is not a quantity`);
  return BigInt(value);
}

/** In lower case. @param size in bytes; undefined: any */
export function readBytes(value: unknown, name: string, size?: number): Hex {
  const isHex = typeof value === 'string' && BYTES.test(value);
  if (!isHex || (size !== undefined && value.length !== 2 + 2 * size)) {
    throw unusable(`${name} is not ${size ?? 'a number of'} bytes`);
  }
  return `0x${value.slice(2).toLowerCase()}`;
}

export function readAddress(value: unknown, name: string): Address {
  return getAddress(readBytes(value, name, 20));
}

/** A quantity as parameters carry it. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** The base fee of the next block and the tips of the newest ones. */
export async function readFeeHistory(node: NodeReads): Promise<FeeHistory> {
  const params = [toQuantity(HISTORY_BLOCKS), 'latest', [TIP_PERCENTILE]];
  const answer = readRecord(await node.call('eth_feeHistory', params), 'eth_feeHistory');
  const baseFees = readList(answer.baseFeePerGas, 'baseFeePerGas');
  const ratios = readList(answer.gasUsedRatio, 'gasUsedRatio');
  // A node leaves rewards out where it has no blocks to report them of.
  const rewards = readList(answer.reward ?? [], 'reward');
  const tips = rewards.flatMap((reward, block) => {
    const [tip] = readList(reward, 'reward');
    return ratios[block] === 0 || tip === undefined ? [] : [readQuantity(tip, 'reward')];
  });
  return { nextBaseFee: readQuantity(baseFees.at(-1), 'baseFeePerGas'), tips };
}
