import { readData, readStates } from '../collector/read.ts';
import type { Mandate, MandateState } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { readInHalves } from '../rpc/read-in-halves.ts';
import { slicesOf } from '../rpc/slices.ts';
import { isRevert } from './collector-errors.ts';
import { siteOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readBytes, toQuantity } from './node-answers.ts';

/** Mandates of one call: 20 kB of data, and 2 million gas where the token is behind a proxy. */
const READS_MAX = 200;

/** As of a block; or as of the newest one, by endpoints that have reached that block. */
type At = { block: bigint } | { from: bigint };

/**
 * The states of mandates and of their wallets, by the word of two endpoints: 200 in each call. A wallet that moves with each block shows another
 * balance at each of them, and one may make the call revert: it hides none of the others.
 *
 * @returns in order; undefined: this one cannot be read
 * @throws ChainUnavailable, also where no endpoint has the state of that block (any more); UnbuildableTransfer
 */
export async function readMandates(
  { node, network }: { node: EvmNode; network: EvmNetwork },
  mandates: readonly Mandate[],
  at: At,
): Promise<(MandateState | undefined)[]> {
  const site = siteOf(network);
  const read = async (some: readonly Mandate[]): Promise<MandateState[] | undefined> => {
    const call = { to: site.collector, data: readData(site, some) };
    const [answer] =
      'from' in at
        ? await node.agreedFrom(at.from, [{ method: 'eth_call', params: [call, 'latest'] }])
        : await node.agreedMany([{ method: 'eth_call', params: [call, toQuantity(at.block)] }]);
    return statesIn(answer, some.length);
  };
  const states: (MandateState | undefined)[] = [];
  for (const part of slicesOf(mandates, READS_MAX)) states.push(...(await readInHalves(part, read)));
  return states;
}

function statesIn(answer: unknown, count: number): MandateState[] | undefined {
  if (answer instanceof NodeError) {
    if (isRevert(answer)) return undefined;
    throw new ChainUnavailable('erc20', `mandates cannot be read: ${answer.message}`, answer);
  }
  const states = readStates(readBytes(answer, 'the mandates'), count);
  if (states === undefined) throw new ChainUnavailable('erc20', 'the answer about mandates is unreadable');
  return states;
}
