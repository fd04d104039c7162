import { ASSETS, type Asset, NETWORKS, type Network } from '@florin/contract/money';
import type { Db } from '../platform/db.ts';
import { listSetting, type MerchantMode, readSettings } from '../platform/settings.ts';

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

/** True while the operator keeps a network, or a token on it, from being sent. */
export async function isPaused(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  network: Network,
  currency: Asset,
): Promise<boolean> {
  const { paused } = await readSettings(db, merchant, TRANSFER_SETTINGS);
  return paused.includes(network) || paused.includes(`${currency}:${network}`);
}
