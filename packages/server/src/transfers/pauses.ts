import { ASSETS, type Asset, NETWORKS, type Network } from '@florin/contract/money';
import type { Db } from '../platform/db/index.ts';
import { listSetting, type MerchantMode, moneySetting, readSettings } from '../tenancy/settings/index.ts';
import { isStopped } from './blocks/network-stops.ts';

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
  liveNetworks: listSetting({
    name: 'transfers.live_networks',
    description:
      'Networks on which payouts and refunds of live merchants are sent (florin networks enable); sandboxes send on all.',
    fallback: [],
    allowed: NETWORKS,
  }),
  gasCeiling: moneySetting({
    name: 'transfers.gas_ceiling',
    description:
      'The most ether that a hot wallet is topped up to, for fees; a payout that needs more waits. In whole coins of the network, such as 0.25.',
    fallback: '0.25',
  }),
  trxCeiling: moneySetting({
    name: 'transfers.trx_ceiling',
    description:
      'The most TRX that a wallet on Tron is topped up to, for fees: about 16 for each payment on its way; others wait. In whole TRX.',
    fallback: '500.00',
  }),
  trxPerDay: moneySetting({
    name: 'transfers.trx_per_day',
    description:
      "The most TRX that a merchant's wallets on Tron are given in 24 hours, deposit addresses for their sweeps among them; others wait. In whole TRX.",
    fallback: '1000.00',
  }),
  trxLent: moneySetting({
    name: 'transfers.trx_lent',
    description:
      'The most of what the gas tank has staked on Tron that deposit addresses may have at a time, whose energy pays for their sweeps; 0: sweeps burn TRX. In whole TRX.',
    fallback: '1000000.00',
  }),
  openingCeiling: moneySetting({
    name: 'transfers.opening_ceiling',
    description:
      "The most that a merchant's payments of 24 hours may spend on accounts of recipients who have none of the token (Solana: rent); others wait. In whole coins of the network, such as 0.5.",
    fallback: '0.5',
  }),
  allowance: moneySetting({
    name: 'transfers.allowance',
    description:
      'What the payout contract may pull of each token from a hot wallet; renewed when a payout needs more than is left.',
    fallback: '10000.00',
  }),
};

/** Real money is sent only where the operator has turned the network on for the merchant. */
export async function isTurnedOn(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  network: Network,
): Promise<boolean> {
  if (merchant.mode === 'sandbox') return true;
  const { liveNetworks } = await readSettings(db, merchant, TRANSFER_SETTINGS);
  return liveNetworks.includes(network);
}

/**
 * True while nothing new may be sent of a token on a network: the operator paused it, or the network is stopped after a
 * deep reorganisation. Check this before ordering transfers.
 */
export async function isPaused(...[db, merchant, network, currency]: Parameters<typeof isPausedByOperator>) {
  return (
    (await isPausedByOperator(db, merchant, network, currency)) || (await isStopped(db, merchant, network))
  );
}

/** True while the operator pauses a network, or a token on it, or has not turned the network on. */
export async function isPausedByOperator(
  db: Db,
  merchant: { merchantId: string; mode: MerchantMode },
  network: Network,
  currency: Asset,
): Promise<boolean> {
  const { paused, liveNetworks } = await readSettings(db, merchant, TRANSFER_SETTINGS);
  if (merchant.mode === 'live' && !liveNetworks.includes(network)) return true;
  return paused.includes(network) || paused.includes(`${currency}:${network}`);
}
