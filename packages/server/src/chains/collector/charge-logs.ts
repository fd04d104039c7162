import { decodeFunctionData, getAbiItem, type Hex, toEventSelector } from 'viem';
import { COLLECTOR_ABI } from './abi.ts';

const CHARGED = toEventSelector(getAbiItem({ abi: COLLECTOR_ABI, name: 'Charged' }));
const CHARGED_BEFORE = toEventSelector(getAbiItem({ abi: COLLECTOR_ABI, name: 'ChargedBefore' }));

/** First topics of what the collector says of charges. */
export const CHARGE_TOPICS: readonly Hex[] = [CHARGED, CHARGED_BEFORE];

/** What a charge is known by at the collector. */
export interface ChargeKey {
  account: Hex;
  id: Hex;
}

/** A charge, and the token that it moves. */
interface ChargeCall extends ChargeKey {
  token: Hex;
}

function callIn(data: Hex) {
  try {
    return decodeFunctionData({ abi: COLLECTOR_ABI, data });
  } catch {
    return undefined;
  }
}

/** @returns undefined for the data of another call */
export function chargeIn(data: Hex): ChargeCall | undefined {
  const call = callIn(data);
  if (call?.functionName !== 'charge') return undefined;
  const [{ account, token }, { id }] = call.args;
  return { account, id, token };
}

/** Whether a call opens an account or activates a mandate: it moves nothing. */
export function isPreparation(data: Hex): boolean {
  const name = callIn(data)?.functionName;
  return name === 'open' || name === 'activate';
}

/**
 * What became of a charge whose transaction succeeded, by the topics of the collector's logs in it.
 *
 * @returns undefined where they say nothing of it
 */
export function chargeOutcome(
  logs: readonly (readonly string[])[],
  { account, id }: ChargeKey,
): 'charged' | 'charged_before' | undefined {
  const own = logs.filter((topics) => topics[1] === account && topics[2] === id);
  if (own.some(([topic]) => topic === CHARGED)) return 'charged';
  return own.some(([topic]) => topic === CHARGED_BEFORE) ? 'charged_before' : undefined;
}
