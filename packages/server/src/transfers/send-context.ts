import type { ChainRegistry } from '../chains/index.ts';
import type { Chain } from '../chains/port/index.ts';
import type { JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { Rates } from '../rates/index.ts';
import type { Merchant } from '../stores/index.ts';
import type { FindAuthority } from './approvals/find-authority.ts';
import type { Screen } from './recipients/screen.ts';
import type { FindUnpayable } from './recipients/unpayable-addresses.ts';

export interface TransferDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
  findUnpayable: FindUnpayable;
  findAuthority: FindAuthority;
  rates: Pick<Rates, 'priceOfCoin'>;
}

/** A run over one group of transfers, or over many groups of charges of one network and token. */
export interface SendContext {
  deps: TransferDeps;
  run: Pick<JobRun, 'step' | 'signal'>;
  merchant: Merchant;
  groupIds: readonly string[];
  chain: Chain;
  /** Whether its transfers are charges. */
  isCharge: boolean;
  /** The merchant's clock at the start of the run. */
  nowSeconds: number;
  /** The name of the history that this run sends for, once a transaction of it has read the name. */
  history: { name?: string };
}

/** What a step in a transaction needs to know of its run. */
export interface StepContext extends Pick<SendContext, 'nowSeconds'> {
  deps: Pick<TransferDeps, 'clock'>;
  merchant: Pick<Merchant, 'merchantId' | 'mode'>;
}

/**
 * Runs a chain call for each entry, at most `callsAtOnce` concurrently, as nodes limit their clients. Starts none after the
 * run was aborted.
 */
export async function callForEach<T, R>(
  { run, chain }: SendContext,
  list: readonly T[],
  call: (entry: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const { callsAtOnce } = chain.capabilities;
  for (let i = 0; i < list.length; i += callsAtOnce) {
    run.signal.throwIfAborted();
    results.push(...(await Promise.all(list.slice(i, i + callsAtOnce).map(call))));
  }
  return results;
}
