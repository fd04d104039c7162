import type { Chain, ChainRegistry } from '../chains/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { enqueue, type JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Merchant } from '../stores/index.ts';
import type { FindOwnAddresses } from './own-addresses.ts';
import type { TransferRow } from './queries.ts';
import type { Screen } from './screen.ts';

export interface TransferDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
  findOwnAddresses: FindOwnAddresses;
}

/** One run over a group of transfers, or over many groups of charges of one network and token. */
export interface Work {
  deps: TransferDeps;
  run: Pick<JobRun, 'step' | 'signal'>;
  merchant: Merchant;
  groupIds: readonly string[];
  chain: Chain;
  /** Whether its transfers come from payers. */
  isCharge: boolean;
  /** The merchant's clock as the run began. */
  nowSeconds: number;
  /** The name of the history that this run sends for, once one of its transactions has read it. */
  history: { name?: string };
}

/**
 * Runs a chain call for each, a few at a time: nodes limit how much they are asked at once. Begins none after the
 * worker was told to stop.
 */
export async function callForEach<T, R>(
  { run, chain }: Work,
  list: readonly T[],
  call: (entry: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const { callsAtOnce } = chain.caps;
  for (let i = 0; i < list.length; i += callsAtOnce) {
    run.signal.throwIfAborted();
    results.push(...(await Promise.all(list.slice(i, i + callsAtOnce).map(call))));
  }
  return results;
}

/** Kind of the owner's job, written with each outcome: `payout_item.decided`, payload `{ groupId }`. */
export const decidedJob = (ownerType: string) => `${ownerType}.decided`;

/** Tells the owners of transfers that these are over, in the transaction that says so. */
export async function tellOwners(
  tx: Tx,
  { deps, merchant }: Work,
  transfers: readonly TransferRow[],
): Promise<void> {
  const owners = new Map(transfers.map((one) => [`${one.owner_type} ${one.group_id}`, one]));
  await enqueue(
    tx,
    [...owners.values()].map(({ owner_type: ownerType, group_id: groupId }) => ({
      merchantId: merchant.merchantId,
      kind: decidedJob(ownerType),
      uniqueKey: groupId,
      dueAtMs: deps.clock.nowMs(),
      payload: { groupId },
    })),
  );
}
