import { ASSETS, type Asset, NETWORKS, type Network } from '@florin/contract/money';
import type { Db } from '../platform/db/index.ts';
import { listSetting, type MerchantMode, readSettings } from '../tenancy/index.ts';
import { isStopped } from './network-stops.ts';

const PAUSABLE = [
  ...NETWORKS,
  ...ASSETS.flatMap((asset) => NETWORKS.map((network) => `${asset}:${network}`)),
];

export const TRANSFER_SETTINGS = {
  paused: listSetting({
    name: 'transfers.paused',
    description:
      'Networks (erc20) and tokens (USDC:trc20) on which nothing new is sent until they are taken off.',
    fallback: [],
    allowed: PAUSABLE,
  }),
};

/**
 * True while nothing new may be sent of a token on a network: the operator keeps it back, or the chain took back what
 * was final. The one question for whoever orders transfers.
 */
export async function isPaused(...[db, merchant, network, currency]: Parameters<typeof isHeldBack>) {
  return (await isHeldBack(db, merchant, network, currency)) || (await isStopped(db, merchant, network));
}

/** True while the operator keeps a network, or a token on it, from being sent. */
export async function isHeldBack(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  network: Network,
  currency: Asset,
): Promise<boolean> {
  const { paused } = await readSettings(db, merchant, TRANSFER_SETTINGS);
  return paused.includes(network) || paused.includes(`${currency}:${network}`);
}
