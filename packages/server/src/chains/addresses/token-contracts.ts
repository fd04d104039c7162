import type { Asset, Network } from '@florin/contract/money';

/**
 * The contracts (mints on spl) of the listed tokens, in canonical form. All have 6 digits.
 *
 * Sources: USDT as published by Tether (tether.to, supported protocols); USDC from
 * developers.circle.com/stablecoins/usdc-contract-addresses. Circle ended USDC on Tron in February 2025: the contract
 * is still listed, because money sent to it is lost all the same.
 */
export const TOKEN_CONTRACTS: Readonly<Record<Network, Readonly<Record<Asset, string>>>> = {
  erc20: {
    USDT: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    USDC: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  },
  trc20: {
    USDT: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    USDC: 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8',
  },
  spl: {
    USDT: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
};

const CONTRACTS: Readonly<Record<Network, ReadonlySet<string>>> = {
  erc20: new Set(Object.values(TOKEN_CONTRACTS.erc20)),
  trc20: new Set(Object.values(TOKEN_CONTRACTS.trc20)),
  spl: new Set(Object.values(TOKEN_CONTRACTS.spl)),
};

/** Whether a canonical address is the contract of a listed token on that network. */
export function isTokenContract(network: Network, canonical: string): boolean {
  return CONTRACTS[network].has(canonical);
}
