import type { Network } from '@florin/contract/money';
import { loaderPer, READ_OVERLAP_AFTER_MS } from '../platform/db/loaders/index.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import type { SubscriptionDeps } from './deps.ts';

/** One batch per mode and network, because many charges become final at once. */
const screens = loaderPer<Pick<SubscriptionDeps, 'db' | 'screen'>, string, boolean>(({ db, screen }) => ({
  overlapAfterMs: READ_OVERLAP_AFTER_MS,
  loadBatch: async (key, addresses) => {
    const [mode, network] = key.split(' ') as [MerchantMode, Network];
    const sanctioned = await screen(db, mode, { network, addresses, stage: 'execution' });
    return addresses.map((address) => sanctioned.has(address));
  },
}));

/** Whether a wallet is sanctioned now. Do not call it in a transaction. */
export async function isWalletSanctioned(
  deps: Pick<SubscriptionDeps, 'db' | 'screen'>,
  mode: MerchantMode,
  { network, address }: { network: Network; address: string },
): Promise<boolean> {
  return await screens(deps).load(`${mode} ${network}`, address);
}
