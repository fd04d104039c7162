import { readData, readStates } from '../collector/read.ts';
import type { Mandate, MandateState } from '../port/port.ts';
import { slicesOf } from '../rpc/slices.ts';
import { constantCall, readConstantResult } from './contract-call.ts';
import { collectorOf, siteOf } from './mandates.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type TronNode, type TronView } from './node.ts';
import { readResult, unusable } from './node-answers.ts';

/** Mandates of one call: nodes give a call little time. */
const READS_MAX = 50;

/**
 * The states of mandates and of their wallets, by the word of two endpoints.
 *
 * @throws ChainUnavailable, UnbuildableTransfer
 */
export async function readMandates(
  { node, network }: { node: TronNode; network: TronNetwork },
  mandates: readonly Mandate[],
  view: TronView,
): Promise<MandateState[]> {
  const site = siteOf(network);
  const collector = collectorOf(network);
  const parts = slicesOf(mandates, READS_MAX);
  const method = ofView(view, 'triggerconstantcontract');
  const answers = await node.agreedMany(
    parts.map((part) => ({
      method,
      params: [constantCall(collector, collector, readData(site, part).slice(2))],
    })),
  );
  return parts.flatMap((part, i) => {
    const { data } = readConstantResult(readResult(answers[i]));
    const states = data === undefined ? undefined : readStates(`0x${data}`, part.length);
    if (states === undefined) throw unusable('what the collector says of mandates cannot be read');
    return states;
  });
}
