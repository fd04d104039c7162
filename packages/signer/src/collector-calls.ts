import { isEqual } from './bytes.ts';
import { type Call, decodeCall } from './calldata.ts';
import { groupOf } from './contracts.ts';
import { differs } from './paid-items.ts';
import type { Purpose, SignerAsset } from './protocol.ts';
import { Refused } from './refusal.ts';
import { BadEncoding } from './rlp.ts';

// The same contract stands on each network whose machine is Ethereum's: what its calls have to say is the same too. Addresses
// in calls are those of that machine on all of them.

/** @throws Refused where the policy names none */
export function tokenOf(
  { tokens }: { tokens: ReadonlyMap<SignerAsset, string> },
  asset: SignerAsset,
): string {
  const token = tokens.get(asset);
  if (token === undefined) throw new Refused('policy', `the policy names no address for ${asset}.`);
  return token;
}

/** @throws Refused where it is no call that the signer knows */
export function readCall(data: Uint8Array): Call {
  try {
    return decodeCall(data);
  } catch (error) {
    if (error instanceof BadEncoding) throw differs(error.message);
    throw error;
  }
}

/** Whether a call opens an account with the keys that the signer has for it. @throws Refused */
export function checkAccount(
  call: Call,
  { account, owner, hot }: { account: number; owner: string; hot: string },
): void {
  if (call.kind !== 'open') throw differs('it opens no account');
  if (call.owner !== owner) throw differs(`its owner is not that of account ${account}`);
  if (call.operator !== hot || call.home !== hot)
    throw differs(`its operator and home are not the hot wallet of account ${account}`);
}

type MandateCall = Extract<Call, { kind: 'activate' | 'charge' }>;

interface Expected {
  account: number;
  /** Its id at the collector. */
  id: Uint8Array;
  token: string;
  /** Of the purpose, in the form in which the network shows it. */
  payer: string | undefined;
  show: (address: string) => string;
}

/**
 * Compares an activation or a charge with its purpose. Coins of payers go to the home of the account alone, which the
 * collector keeps: here the account is compared.
 *
 * @throws Refused
 */
export function checkMandate(
  call: Call,
  purpose: Extract<Purpose, { kind: 'activate' | 'charge' }>,
  { account, id, token, payer, show }: Expected,
): MandateCall {
  if ((call.kind !== 'activate' && call.kind !== 'charge') || call.kind !== purpose.kind)
    throw differs(`it is no ${purpose.kind}`);
  const { mandate } = call;
  if (!isEqual(mandate.account, id)) throw differs(`its mandate is not for account ${account}`);
  if (mandate.token !== token) throw differs(`its mandate is for another token than ${purpose.asset}`);
  if (show(mandate.payer) !== payer) throw differs(`its mandate is of ${show(mandate.payer)}`);
  if (call.kind === 'charge' && purpose.kind === 'charge') {
    if (!isEqual(call.id, groupOf(purpose.id))) throw differs(`it charges by another id than ${purpose.id}`);
    if (call.amount !== BigInt(purpose.amount)) throw differs(`it charges ${call.amount} units`);
  }
  return call;
}
