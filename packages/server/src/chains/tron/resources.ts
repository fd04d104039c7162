import { NodeError } from '../rpc/node.ts';
import { ofView, type TronNode } from './node.ts';
import { isNothing, orUnavailable, readNumber, readRecord, tryRead, unusable } from './node-answers.ts';

// What an account can pay fees with.

const accountFields = (address: string) => [{ address, visible: true }];

/** In sun, as of the newest block; by one endpoint's word. @throws ChainUnavailable */
export async function readTrx(node: TronNode, address: string): Promise<bigint> {
  const call = node.call(ofView('head', 'getaccount'), accountFields(address));
  return readBalance(await orUnavailable(call), address);
}

/**
 * In sun, as of a final block, where two endpoints agree: who shows too little would have TRX moved again and again. What is not final is
 * counted by whoever asks.
 *
 * @throws ChainUnavailable
 */
export async function readFinalTrx(node: TronNode, address: string): Promise<bigint> {
  const call = node.agreed(ofView('solid', 'getaccount'), accountFields(address));
  return readBalance(await orUnavailable(call), address);
}

function readBalance(answer: unknown, address: string): bigint {
  if (isNothing(answer)) return 0n;
  const account = readRecord(answer, 'an account');
  if (account.address !== address) throw unusable('a node answers with another account');
  return readNumber(account.balance, 'a balance');
}

/**
 * Energy that it has staked for, or was lent, and has not used: the least that an endpoint shows. It comes back by the second, so that no
 * two show the same. An answer that cannot be read is none: one endpoint alone could hold all payments.
 *
 * @throws ChainUnavailable
 */
export async function readEnergy(node: TronNode, address: string): Promise<bigint> {
  const request = { method: ofView('head', 'getaccountresource'), params: accountFields(address) };
  const answers = await node.everywhere(request);
  const left = answers.flatMap((answer) =>
    answer instanceof NodeError ? [] : (tryRead(() => leftOf(answer)) ?? []),
  );
  return left.reduce((least, one) => (one < least ? one : least), left[0] ?? 0n);
}

function leftOf(answer: unknown): bigint {
  const { EnergyLimit: limit, EnergyUsed: used } = readRecord(answer, 'the resources of an account');
  const left = readNumber(limit, 'the energy of an account') - readNumber(used, 'used energy');
  return left > 0n ? left : 0n;
}
