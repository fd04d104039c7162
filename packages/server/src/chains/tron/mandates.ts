import { accountOfTron, tronOfAccount } from '@florin/signer/tron';
import { checkTrc20Address } from '../addresses/trc20.ts';
import { UnservedMandate } from '../charges/charge-errors.ts';
import type { CollectorSite, MandateHolder } from '../collector/site.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { chainIdOf, type TronNetwork } from './network.ts';
import type { TronWallets } from './reader.ts';

/** @throws UnservedMandate where the network has no collector */
export function collectorOf({ collector, name }: Pick<TronNetwork, 'collector' | 'name'>): string {
  if (collector === null) throw new UnservedMandate(`${name} has no collector: wallets are not charged`);
  return collector;
}

/** Contracts see addresses without their first byte, and so does what payers sign. @throws UnbuildableTransfer */
export function siteOf(network: TronNetwork): CollectorSite {
  return {
    chainId: chainIdOf(network),
    collector: accountOfTron(collectorOf(network)),
    tokenOf: (asset) => accountOfTron(tokenOf(network, asset)),
    accountOf: (address) => (checkTrc20Address(address).ok ? accountOfTron(address) : undefined),
    addressOf: tronOfAccount,
  };
}

/** @throws UnbuildableTransfer where the network does not take that asset */
export function tokenOf(network: TronNetwork, asset: 'USDT' | 'USDC'): string {
  const token = network.tokens[asset]?.contract;
  if (token === undefined) throw new UnbuildableTransfer(`${network.name} has no ${asset}`);
  return token;
}

/** Hot wallets are not rotated here: the present one is the first. */
export const holderOf = ({ owner, hot }: Pick<TronWallets, 'owner' | 'hot'>): MandateHolder => ({
  owner: accountOfTron(owner),
  first: accountOfTron(hot),
});
