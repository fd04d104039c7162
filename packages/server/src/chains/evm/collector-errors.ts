import type { Hex } from 'viem';
import { chargeFaultOf, errorName } from '../collector/errors.ts';
import type { ChargeFault } from '../port/port.ts';
import { NodeError } from '../rpc/node.ts';
import { type NodeReads, readQuantity, readRecord, toQuantity } from './node-answers.ts';
import type { Call } from './transaction.ts';

/** What a call gave back that a node refused; undefined for every other answer. */
export const revertedIn = (answer: unknown): unknown =>
  answer instanceof NodeError ? answer.data : undefined;

/**
 * Why a charge that is in that block has failed: receipts do not say, so the same call is made once more, as of its block
 * and as of the one before it, as other transactions of the block may have come in between. That it failed is known by two
 * endpoints; the reason is the word of one.
 *
 * @returns undefined where it cannot be told
 * @throws ChainUnavailable
 */
export async function findChargeFault(
  node: NodeReads,
  { to, data }: Pick<Call, 'to' | 'data'>,
  { sender, height }: { sender: string; height: bigint },
): Promise<ChargeFault | undefined> {
  const [block, ...answers] = await node.callMany([
    { method: 'eth_getBlockByNumber', params: [toQuantity(height), false] },
    ...[height, height - 1n].map((at) => ({
      method: 'eth_call',
      params: [{ from: sender, to, data }, toQuantity(at)],
    })),
  ]);
  const time = Number(readQuantity(readRecord(block, 'the block').timestamp, 'timestamp'));
  for (const answer of answers) {
    const fault = chargeFaultOf(revertedIn(answer), data, time);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

export const isRefusedAs = (answer: unknown, name: string): boolean => errorName(revertedIn(answer)) === name;

/**
 * The error with which the collector would refuse that call, as of the newest block.
 *
 * @returns undefined where it would not, or for a reason that is none of its own
 */
export async function findRefusal(
  node: NodeReads,
  { to, data }: { to: string; data: Hex },
  sender: string,
): Promise<string | undefined> {
  const [answer] = await node.callMany([
    { method: 'eth_call', params: [{ from: sender, to, data }, 'latest'] },
  ]);
  return errorName(revertedIn(answer));
}
