import type { Hex } from 'viem';
import { chargeFaultOf, errorName, isTokenRefusal } from '../collector/errors.ts';
import type { ChargeFault } from '../port/port.ts';
import { NodeError } from '../rpc/node.ts';
import type { EvmNode } from './node.ts';
import {
  type NodeReads,
  orUnavailable,
  readQuantity,
  readRecord,
  toQuantity,
  unusable,
} from './node-answers.ts';
import type { Call } from './transaction.ts';

/** What a call gave back that a node refused; undefined for every other answer. */
export const revertedIn = (answer: unknown): unknown =>
  answer instanceof NodeError ? answer.data : undefined;

/** Whether the call itself was refused. Nodes give a revert the code 3 and its data, or, where it has none, its name alone. */
export const isRevert = ({ code, data, message }: NodeError): boolean =>
  code === 3 || (typeof data === 'string' && data.startsWith('0x')) || /\brevert/i.test(message);

/**
 * Why a charge that is in that block has failed: receipts do not say, so the same call is made once more, as of its block
 * and as of the one before it, as other transactions of the block may have come in between. That it failed is known by two
 * endpoints; the reason is the word of one.
 *
 * @returns `token_refused`: the token's transfer failed; undefined: no answer gives a reason
 * @throws ChainUnavailable
 */
export async function findChargeFault(
  node: NodeReads,
  { to, data }: Pick<Call, 'to' | 'data'>,
  { sender, height }: { sender: string; height: bigint },
): Promise<ChargeFault | 'token_refused' | undefined> {
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
  return answers.some((answer) => isTokenRefusal(revertedIn(answer))) ? 'token_refused' : undefined;
}

export const isRefusedAs = (answer: unknown, name: string): boolean => errorName(revertedIn(answer)) === name;

/**
 * The error with which the collector would refuse that call, as of the newest block. One endpoint alone ends nothing by its word: that it is
 * refused, two have to say.
 *
 * @returns undefined where it would not, or for a reason that is none of its own
 * @throws ChainUnavailable where they contradict each other
 */
export async function findRefusal(
  node: Pick<EvmNode, 'callMany' | 'agreedMany'>,
  { to, data }: { to: string; data: Hex },
  sender: string,
): Promise<string | undefined> {
  const request = { method: 'eth_call', params: [{ from: sender, to, data }, 'latest'] };
  const [answer] = await orUnavailable(node.callMany([request]));
  const refusal = errorName(revertedIn(answer));
  if (refusal === undefined) return undefined;
  const [agreed] = await orUnavailable(node.agreedMany([request]));
  if (errorName(revertedIn(agreed)) !== refusal)
    throw unusable(`endpoints differ in whether the collector refuses it as ${refusal}`);
  return refusal;
}
