import { ASSETS, type Asset } from '@florin/contract/money';
import type { NetworkFacts } from './live-chains.ts';
import type { PayerWallets } from './payer-wallets.ts';

interface NamedNetwork {
  name: string;
  isTest: boolean;
  explorer: NetworkFacts['explorer'];
}

/**
 * The facts of a network without a collector, which payers' wallets are not asked to add.
 *
 * @param addressOf a token's contract or mint; undefined: it is not taken there
 */
export function plainFacts(
  { isTest, name, explorer }: NamedNetwork,
  addressOf: (asset: Asset) => string | undefined,
  wallets: PayerWallets | null,
): NetworkFacts {
  const tokens: Partial<Record<Asset, string>> = {};
  for (const asset of ASSETS) {
    const address = addressOf(asset);
    if (address !== undefined) tokens[asset] = address;
  }
  return { isTest, name, wallets, publicEndpoint: null, collector: null, tokens, explorer };
}
