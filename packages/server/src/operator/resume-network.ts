import type { Network } from '@florin/contract/money';
import type { App } from '../app.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import type { VoteCount } from '../stores/approvers/index.ts';
import type { Merchant } from '../stores/index.ts';
import { endAllStops, endStops, listStops, type NetworkStop, stopKeyOf } from '../transfers/blocks/index.ts';
import { type InstallationApprover, voteForInstallation } from './context.ts';

/** Live merchants share the chains, so a stop of theirs has no merchant. */
export const isLiveStop = ({ merchant_id: chain }: NetworkStop) => chain === NIL_ID;

interface ResumeInput {
  network: Network;
  /** Whose chains alone; live merchants share theirs. */
  merchant?: Merchant | undefined;
  /** Who decides, where real money waits. */
  by?: InstallationApprover | undefined;
}

interface Resumed extends Partial<Pick<VoteCount, 'agreed' | 'required'>> {
  network: Network;
  /** How many stops ended. */
  resumed: number;
}

/** Votes for these very stops, so that none counts for a later one. */
const subjectOf = (network: Network, stops: readonly NetworkStop[]) =>
  [network, ...stops.map(stopKeyOf)].join(' ');

/**
 * Resumes sending on a network after somebody has examined the cause. Where real money waits, two approvers of the
 * installation decide it, as it goes out for every live merchant; a sandbox merchant's chain needs nobody's word.
 */
export async function resumeNetwork(app: App, { network, merchant, by }: ResumeInput): Promise<Resumed> {
  const stops = await listStops(app.db, { network, owner: merchant });
  const live = stops.filter(isLiveStop);
  if (live.length === 0) return { network, resumed: await endStops(app.db, stops) };
  if (by === undefined) {
    const message =
      `Real money waits on ${network}: two approvers of the installation resume it. Name yourself with --as ` +
      "(florin approvers add NAME --operator), or resume a sandbox merchant's chain alone with --merchant.";
    throw new Fail('forbidden', { message, param: 'as' });
  }
  let resumed = 0;
  const { agreed, required } = await voteForInstallation(app, by, {
    action: 'networks.resume',
    subject: subjectOf(network, live),
    decision: 'resume',
    carryOut: async (tx) => {
      resumed = await endAllStops(tx, stops);
    },
  });
  return { network, resumed, agreed, required };
}
