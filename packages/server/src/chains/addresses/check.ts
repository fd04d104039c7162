import type { Network } from '@florin/contract/money';
import type { AddressCheck } from '../port.ts';
import { checkErc20Address } from './erc20.ts';
import { checkSplAddress } from './spl.ts';
import { checkTrc20Address } from './trc20.ts';

/** Any refusal means: money sent there would be lost, or the text is no address of that network. Asks no node. */
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
