import { type Address, encodeFunctionData, type Hex } from 'viem';
import { checkErc20Address } from '../addresses/erc20.ts';
import { UnservedMandate } from '../charges/charge-errors.ts';
import { COLLECTOR_ABI } from '../collector/abi.ts';
import { activateData, type MandateTerms } from '../collector/mandates.ts';
import type { CollectorSite } from '../collector/site.ts';
import type { SignedPermit } from '../port/port.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import type { EvmNetwork } from './network.ts';
import { permitWords } from './permit-words.ts';

/** @throws UnservedMandate where the network has no collector */
export function collectorOf({ collector, name }: Pick<EvmNetwork, 'collector' | 'name'>): Address {
  if (collector === null) throw new UnservedMandate(`${name} has no collector: wallets are not charged`);
  return toAddress(collector);
}

/** @throws UnbuildableTransfer where the network has no collector */
export function siteOf(network: EvmNetwork): CollectorSite {
  return {
    chainId: network.chainId,
    collector: collectorOf(network),
    tokenOf: (asset) => tokenOf(network, asset),
    accountOf: (address) => {
      const { ok, canonical } = checkErc20Address(address);
      return ok && canonical === address ? toAddress(address) : undefined;
    },
    addressOf: (account) => account,
  };
}

/** With the approval that the payer has signed, if there is one. @throws UnbuildableTransfer */
export function activationData(terms: MandateTerms, signature: Hex, permit?: SignedPermit): Hex {
  if (permit === undefined) return activateData(terms, signature);
  const words = permitWords(permit);
  if (words === undefined) throw new UnbuildableTransfer('the approval is not signed by a key');
  const args = [terms, signature, words] as const;
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'activateWithPermit', args });
}
