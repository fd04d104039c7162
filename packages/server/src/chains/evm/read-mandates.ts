import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Mandate, MandateState } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import { COLLECTOR_ABI } from './contracts.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readBytes, toQuantity } from './node-answers.ts';

/** Mandates of one call: 20 kB of data, and 2 million gas where the token is behind a proxy. */
const READS_MAX = 200;
/** As the collector numbers them. */
const STATES = ['missing', 'active', 'revoked'] as const;
const FORM = /^0x[0-9a-f]{64}$/;

/**
 * The states of mandates and of their wallets as of that block, by the word of two endpoints: 200 in each call.
 *
 * @throws ChainUnavailable, also where no endpoint has the state of that block any more
 */
export async function readMandates(
  { node, network, collector }: { node: EvmNode; network: EvmNetwork; collector: Address },
  mandates: readonly Mandate[],
  at: bigint | 'latest',
): Promise<MandateState[]> {
  const queries = mandates.map(({ mandateId, asset, payer }) => ({
    mandate: readId(mandateId),
    token: tokenOf(network, asset),
    payer: toAddress(payer),
  }));
  const parts = slicesOf(queries, READS_MAX);
  const block = at === 'latest' ? at : toQuantity(at);
  const answers = await node.agreedMany(
    parts.map((part) => {
      const data = encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'read', args: [part] });
      return { method: 'eth_call', params: [{ to: collector, data }, block] };
    }),
  );
  return parts.flatMap((part, place) => readStates(answers[place], part.length));
}

/** An id of another form is no mandate of this network, and not on the chain. */
function readId(mandateId: string): `0x${string}` {
  return FORM.test(mandateId) ? `0x${mandateId.slice(2)}` : `0x${'0'.repeat(64)}`;
}

function readStates(answer: unknown, count: number): MandateState[] {
  if (answer instanceof NodeError)
    throw new ChainUnavailable('erc20', `mandates cannot be read: ${answer.message}`, answer);
  const states = decode(readBytes(answer, 'the mandates'));
  if (states.length !== count) throw new ChainUnavailable('erc20', 'the answer has other mandates');
  return states.map(({ status, balance, allowance }): MandateState => {
    const state = STATES[status];
    if (state === undefined) throw new ChainUnavailable('erc20', `a mandate has the state ${status}`);
    return { state, balance, allowance };
  });
}

function decode(data: `0x${string}`) {
  try {
    return decodeFunctionResult({ abi: COLLECTOR_ABI, functionName: 'read', data });
  } catch (error) {
    throw new ChainUnavailable('erc20', 'the answer about mandates is unreadable', error);
  }
}
