import type { Asset } from '@florin/contract/money';
import type { Endpoint } from '../rpc/endpoint.ts';

/** One EVM network as the networks file configures it. Addresses are canonical (EIP-55); wei amounts are bigint. */
export interface EvmNetwork {
  name: string;
  /** Its coins have no value. */
  isTest: boolean;
  endpoints: readonly Endpoint[];
  chainId: number;
  /** A node for payers' wallets that do not know this network, without a key; null: they are offered none. */
  publicEndpoint: string | null;
  genesisHash: string;
  /** By asset; an asset that is absent is not taken on this network. */
  tokens: Readonly<Partial<Record<Asset, { address: string }>>>;
  /** Null: items are paid by single transfers. */
  batchPayout: string | null;
  sweeper: string | null;
  /** Null: no wallet is charged. */
  collector: string | null;
  finality: {
    tag: 'finalized';
    /** Confirmations after which small deposits are credited; null: never early. */
    earlyConfirmations: number | null;
  };
  feeCeilings: {
    maxFeePerGas: bigint;
    maxPriorityFeePerGas: bigint;
    gasPerTransaction: bigint;
  };
  /** Links with `{tx_id}` and `{address}`; null where nobody shows this chain. */
  explorer: { transaction: string; address: string } | null;
}
