import { decodeErrorResult, decodeFunctionData, type Hex } from 'viem';
import type { ChargeFault } from '../port/port.ts';
import { NodeError } from '../rpc/node.ts';
import { COLLECTOR_ABI } from './contracts.ts';
import { type NodeReads, readQuantity, readRecord, toQuantity } from './node-answers.ts';
import type { Call } from './transaction.ts';

/** The collector's errors in the words of the port. */
const FAULTS: Readonly<Record<string, ChargeFault>> = {
  InsufficientBalance: 'insufficient_balance',
  InsufficientAllowance: 'insufficient_allowance',
  CapExceeded: 'cap_exceeded',
  BadWindow: 'cap_exceeded',
  TooManySubscriptions: 'cap_exceeded',
  MandateRevoked: 'mandate_revoked',
  MandateMissing: 'insufficient_allowance',
  OutsideTerm: 'insufficient_allowance',
};

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
    const fault = chargeFaultOf(answer, data, time);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Why the collector refused a charge that was tried as a call.
 *
 * @param time of the block that it was tried as of, Unix seconds
 */
export function chargeFaultOf(answer: unknown, data: Hex, time: number): ChargeFault | undefined {
  const name = errorName(answer);
  if (name === undefined) return undefined;
  return isLate(name, data, time) ? 'too_late' : FAULTS[name];
}

/** As the contract has it: a window has ended at most so long ago. */
const WINDOW_LATE_SECONDS = 7 * 86_400;

/** Whether the charge was good until its window, or the mandate's term, was over. */
function isLate(name: string, data: Hex, time: number): boolean {
  if (name !== 'BadWindow' && name !== 'OutsideTerm') return false;
  const call = decodeFunctionData({ abi: COLLECTOR_ABI, data });
  if (call.functionName !== 'charge') return false;
  const [{ end }, { windowStart, windowEnd }] = call.args;
  if (name === 'BadWindow') return windowEnd + WINDOW_LATE_SECONDS <= time;
  return end !== 0 && end <= time && windowStart < end;
}

export const isRefusedAs = (answer: unknown, name: string): boolean => errorName(answer) === name;

/**
 * The error with which the collector would refuse that call, as of the newest block.
 *
 * @returns undefined where it would not, or for a reason that is none of its own
 */
export async function findRefusal(
  node: NodeReads,
  { to, data }: Pick<Call, 'to' | 'data'>,
  sender: string,
): Promise<string | undefined> {
  const [answer] = await node.callMany([
    { method: 'eth_call', params: [{ from: sender, to, data }, 'latest'] },
  ]);
  return errorName(answer);
}

function errorName(answer: unknown): string | undefined {
  const data = answer instanceof NodeError ? answer.data : undefined;
  if (typeof data !== 'string' || !/^0x[0-9a-f]{8}$/i.test(data)) return undefined;
  try {
    return decodeErrorResult({ abi: COLLECTOR_ABI, data: `0x${data.slice(2)}` }).errorName;
  } catch {
    return undefined;
  }
}
