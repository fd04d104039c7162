import type { Asset } from '@florin/contract/money';
import type { Endpoint } from '../rpc/endpoint.ts';

export const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
/** Genesis hashes of the public networks, as the wallet standard names these. */
const PUBLIC_CHAINS = new Map([
  [MAINNET, 'solana:mainnet'],
  ['EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', 'solana:devnet'],
  ['4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY', 'solana:testnet'],
]);

/** One Solana network as it is configured. Addresses are in base58; amounts of SOL in lamports. */
export interface SolanaNetwork {
  name: string;
  /** Its coins have no value. */
  isTest: boolean;
  endpoints: readonly Endpoint[];
  genesisHash: string;
  /** By asset; an asset that is absent is not taken on this network. */
  tokens: Readonly<Partial<Record<Asset, { mint: string }>>>;
  feeCeilings: {
    /** Of one transaction. */
    computeUnits: number;
    /** The most lamports that the priority of one transaction may cost. */
    priorityFee: bigint;
  };
  /** Links with `{tx_id}` and `{address}`; null where nobody shows this chain. */
  explorer: { transaction: string; address: string } | null;
}

/** As the wallet standard names it. */
export function chainNameOf({ genesisHash }: Pick<SolanaNetwork, 'genesisHash'>): string {
  return PUBLIC_CHAINS.get(genesisHash) ?? 'solana:localnet';
}
