import { decodeErrorResult, decodeFunctionData, type Hex } from 'viem';
import type { ChargeFault } from '../port/port.ts';
import { COLLECTOR_ABI } from './abi.ts';

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

/** The name of the error with which the collector reverts. @param data what the call gave back; undefined where it was something else */
export function errorName(data: unknown): string | undefined {
  if (typeof data !== 'string' || !/^0x[0-9a-f]{8}$/i.test(data)) return undefined;
  try {
    return decodeErrorResult({ abi: COLLECTOR_ABI, data: `0x${data.slice(2)}` }).errorName;
  } catch {
    return undefined;
  }
}

/**
 * Why the collector refused a charge that was tried, or sent.
 *
 * @param reverted what it gave back
 * @param charge the data of the call
 * @param time of the block, Unix seconds
 */
export function chargeFaultOf(reverted: unknown, charge: Hex, time: number): ChargeFault | undefined {
  const name = errorName(reverted);
  if (name === undefined) return undefined;
  return isLate(name, charge, time) ? 'too_late' : FAULTS[name];
}

/**
 * As `chargeFaultOf`, of a charge that is tried while the token is not paused: what it refuses to move is frozen, and to a charge as good as
 * not there.
 */
export function triedFaultOf(reverted: unknown, charge: Hex, time: number): ChargeFault | undefined {
  return isTokenRefusal(reverted) ? 'insufficient_balance' : chargeFaultOf(reverted, charge, time);
}

/** Whether the token did not move the coins: it is paused, or its issuer has blocked somebody, the payer or us. */
export const isTokenRefusal = (reverted: unknown): boolean => errorName(reverted) === 'TransferFailed';

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
