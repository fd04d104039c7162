import type { Asset } from '@florin/contract/money';
import type { Endpoint } from '../rpc/endpoint.ts';

/** One Tron network as it is configured. Addresses are in base58; amounts of TRX in sun. */
export interface TronNetwork {
  name: string;
  /** Its coins have no value. */
  isTest: boolean;
  endpoints: readonly Endpoint[];
  /** Id of the first block, hex. */
  genesisHash: string;
  /** By asset; an asset that is absent is not taken on this network. */
  tokens: Readonly<Partial<Record<Asset, { contract: string }>>>;
  /** Null: no wallet is charged. */
  collector: string | null;
  feeCeilings: {
    /** The most sun that the energy of one transaction may cost. */
    feeLimit: bigint;
  };
  /** Links with `{tx_id}` and `{address}` in them; null where nobody shows this chain. */
  explorer: { transaction: string; address: string } | null;
}

/** As wallets name the chain, and the code of contracts sees it: the last four bytes of the id of its first block. */
export const chainIdOf = ({ genesisHash }: Pick<TronNetwork, 'genesisHash'>): number =>
  Number.parseInt(genesisHash.slice(-8), 16);
