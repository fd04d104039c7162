import { type Address, getAddress, type Hex } from 'viem';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { type FeeHistory, HISTORY_BLOCKS, TIP_PERCENTILE } from './fees.ts';
import type { EvmNode } from './node.ts';

// What a node answers is read field by field: anything but the expected form is `ChainUnavailable`.

/** What reading needs of a node. */
export type NodeReads = Pick<EvmNode, 'call' | 'agreed' | 'callMany'>;

/** For reads: a node that refuses one, as it has pruned that state, is as good as away. */
export function readsOf(node: EvmNode): NodeReads {
  return {
    call: (method, params) => orUnavailable(node.call(method, params)),
    agreed: (method, params) => orUnavailable(node.agreed(method, params)),
    callMany: (requests) => orUnavailable(node.callMany(requests)),
  };
}

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    throw new ChainUnavailable('erc20', `the node refuses a call: ${error.message}`, error);
  }
}

const QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;

export function unusable(detail: string): ChainUnavailable {
  return new ChainUnavailable('erc20', `the node's answer is unusable: ${detail}`);
}

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

export function readRecord(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unusable(`${name} is not an object`);
  }
  return { ...value };
}

export function readList(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw unusable(`${name} is not a list`);
  return value;
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
