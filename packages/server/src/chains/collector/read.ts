import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import type { Mandate, MandateState } from '../port/port.ts';
import { COLLECTOR_ABI } from './abi.ts';
import { accountIdOf, type CollectorSite, type MandateHolder } from './site.ts';

/** As the collector numbers them. */
const STATES = ['missing', 'active', 'revoked'] as const;
const FORM = /^0x[0-9a-f]{64}$/;
const NOBODY = `0x${'0'.repeat(40)}` as const;

/** The question for the states of these mandates and of their wallets. */
export function readData(site: CollectorSite, mandates: readonly Mandate[]): Hex {
  const queries = mandates.map(({ mandateId, asset, payer }) => ({
    mandate: readId(mandateId),
    token: site.tokenOf(asset),
    payer: site.accountOf(payer) ?? NOBODY,
  }));
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'read', args: [queries] });
}

/** An id of another form is no mandate of this network, and not on the chain. */
function readId(mandateId: string): Hex {
  return FORM.test(mandateId) ? `0x${mandateId.slice(2)}` : `0x${'0'.repeat(64)}`;
}

/** @returns undefined where the answer is not of so many mandates */
export function readStates(answer: Hex, count: number): MandateState[] | undefined {
  const answers = unlessUnreadable(() =>
    decodeFunctionResult({ abi: COLLECTOR_ABI, functionName: 'read', data: answer }),
  );
  if (answers?.length !== count) return undefined;
  const states = answers.flatMap(({ status, balance, allowance }): MandateState[] => {
    const state = STATES[status];
    return state === undefined ? [] : [{ state, balance, allowance }];
  });
  return states.length === count ? states : undefined;
}

/** The question for a merchant's account. */
export const accountData = (holder: MandateHolder): Hex =>
  encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'accountAt', args: [accountIdOf(holder)] });

/** Owner, operator, home, the next home and when it takes the place of that. @returns undefined where it cannot be read */
export const readAccountAt = (answer: Hex) =>
  unlessUnreadable(() =>
    decodeFunctionResult({ abi: COLLECTOR_ABI, functionName: 'accountAt', data: answer }),
  );

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
