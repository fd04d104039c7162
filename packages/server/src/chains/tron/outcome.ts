import { readRecord } from './node-answers.ts';

/** What a call that failed says of itself, as the network names it. */
const FAILURES = new Set<unknown>([
  'REVERT',
  'BAD_JUMP_DESTINATION',
  'OUT_OF_MEMORY',
  'PRECOMPILED_CONTRACT',
  'STACK_TOO_SMALL',
  'STACK_TOO_LARGE',
  'ILLEGAL_OPERATION',
  'STACK_OVERFLOW',
  'OUT_OF_ENERGY',
  'OUT_OF_TIME',
  'JVM_STACK_OVER_FLOW',
  'UNKNOWN',
  'TRANSFER_FAILED',
  'INVALID_CODE',
]);
/** Left out, or written all the same: it is the default of its field, and spelled so. */
const SUCCEEDED = new Set<unknown>([undefined, null, 'SUCESS']);

/**
 * Whether a transaction in a block did what it was to do. Logs prove nothing without this: a call that runs out of time is undone, and the node
 * shows the logs of what it had done all the same.
 *
 * @param isCall of a contract; false: a payment of TRX
 * @returns `unclear` for whatever is neither: it decides nothing
 */
export function outcomeOf(info: Record<string, unknown>, isCall = true): 'succeeded' | 'failed' | 'unclear' {
  const { result: receipt } = readRecord(info.receipt ?? {}, 'a receipt');
  // A payment of TRX that cannot be made is in no block; one that is there has no result.
  if (!isCall && receipt === undefined && SUCCEEDED.has(info.result)) return 'succeeded';
  if (receipt === 'SUCCESS' && SUCCEEDED.has(info.result)) return 'succeeded';
  return info.result === 'FAILED' && FAILURES.has(receipt) ? 'failed' : 'unclear';
}
