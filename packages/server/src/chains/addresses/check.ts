import type { Network } from '@florin/contract/money';
import type { AddressCheck } from '../port/port.ts';
import { checkErc20Address } from './erc20.ts';
import { checkSplAddress } from './spl.ts';
import { checkTrc20Address } from './trc20.ts';

/** Refuses a text that is no address of that network, and addresses where money would be lost. Needs no node. */
export function checkAddress(
  network: Network,
  address: string,
  options: { allowProgramOwned?: boolean } = {},
): AddressCheck {
  switch (network) {
    case 'erc20':
      return checkErc20Address(address);
    case 'trc20':
      return checkTrc20Address(address);
    case 'spl':
      return checkSplAddress(address, options.allowProgramOwned);
  }
}
