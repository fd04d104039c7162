import { randomBytes } from 'node:crypto';
import type { Network } from '../../packages/contract/src/money.ts';
import { formatErc20Address } from '../../packages/server/src/chains/addresses/erc20.ts';
import { checkAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { formatSplAddress } from '../../packages/server/src/chains/addresses/spl.ts';
import { formatTrc20Address } from '../../packages/server/src/chains/addresses/trc20.ts';

/** A new address as a wallet shows it: on Ethereum with its checksum, on Solana a key that somebody can hold. */
export function randomAddress(network: Network): string {
  switch (network) {
    case 'erc20':
      return formatErc20Address(randomBytes(20));
    case 'trc20':
      return formatTrc20Address(randomBytes(20));
    case 'spl':
      return randomKey();
  }
}

/** Half of all numbers are no point of the curve. */
function randomKey(): string {
  for (;;) {
    const address = formatSplAddress(randomBytes(32));
    if (checkAddress('spl', address).ok) return address;
  }
}
