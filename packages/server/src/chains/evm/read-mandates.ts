import { readData, readStates } from '../collector/read.ts';
import type { Mandate, MandateState } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import { siteOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readBytes, toQuantity } from './node-answers.ts';

/** Mandates of one call: 20 kB of data, and 2 million gas where the token is behind a proxy. */
const READS_MAX = 200;

/**
 * The states of mandates and of their wallets as of that block, by the word of two endpoints: 200 in each call.
 *
 * @throws ChainUnavailable, also where no endpoint has the state of that block any more; UnbuildableTransfer
 */
export async function readMandates(
  { node, network }: { node: EvmNode; network: EvmNetwork },
  mandates: readonly Mandate[],
  at: bigint | 'latest',
): Promise<MandateState[]> {
  const site = siteOf(network);
  const parts = slicesOf(mandates, READS_MAX);
  const block = at === 'latest' ? at : toQuantity(at);
  const answers = await node.agreedMany(
    parts.map((part) => ({
      method: 'eth_call',
      params: [{ to: site.collector, data: readData(site, part) }, block],
    })),
  );
  return parts.flatMap((part, place) => statesIn(answers[place], part.length));
}

function statesIn(answer: unknown, count: number): MandateState[] {
  if (answer instanceof NodeError)
    throw new ChainUnavailable('erc20', `mandates cannot be read: ${answer.message}`, answer);
  const states = readStates(readBytes(answer, 'the mandates'), count);
  if (states === undefined) throw new ChainUnavailable('erc20', 'the answer about mandates is unreadable');
  return states;
}
