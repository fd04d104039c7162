import { readData, readStates } from '../collector/read.ts';
import type { Mandate, MandateState } from '../port/port.ts';
import { readInHalves } from '../rpc/read-in-halves.ts';
import { slicesOf } from '../rpc/slices.ts';
import { constantCall, readConstantResult } from './contract-call.ts';
import { collectorOf, siteOf } from './mandates.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type Reached, type TronNode } from './node.ts';
import { readResult } from './node-answers.ts';

/** Mandates of one call: nodes give a call little time. */
const READS_MAX = 50;

/**
 * The states of mandates and of their wallets, by the word of two endpoints, as of that block or a later one. A wallet that moves with each
 * block shows another balance at each of them, and one may make the call revert: it hides none of the others.
 *
 * @returns in order; undefined: this one cannot be read
 * @throws ChainUnavailable, UnbuildableTransfer
 */
export async function readMandates(
  { node, network }: { node: TronNode; network: TronNetwork },
  mandates: readonly Mandate[],
  from: Reached,
): Promise<(MandateState | undefined)[]> {
  const site = siteOf(network);
  const collector = collectorOf(network);
  const method = ofView(from.view, 'triggerconstantcontract');
  const read = async (some: readonly Mandate[]): Promise<MandateState[] | undefined> => {
    const params = [constantCall(collector, collector, readData(site, some).slice(2))];
    const [answer] = await node.agreedFrom(from, [{ method, params }]);
    const { data } = readConstantResult(readResult(answer));
    return data === undefined ? undefined : readStates(`0x${data}`, some.length);
  };
  const states: (MandateState | undefined)[] = [];
  for (const part of slicesOf(mandates, READS_MAX)) states.push(...(await readInHalves(part, read)));
  return states;
}
