import type { EvmNetwork } from '../../packages/server/src/chains/evm/network.ts';

/** Nothing answers for Ethereum. */
export const ETHEREUM_AWAY: EvmNetwork = {
  name: 'an Ethereum that is away',
  isTest: true,
  endpoints: [{ url: 'http://127.0.0.1:1', isOwn: true }],
  chainId: 31_337,
  publicEndpoint: null,
  genesisHash: `0x${'00'.repeat(32)}`,
  tokens: {},
  batchPayout: null,
  sweeper: null,
  collector: null,
  finality: { tag: 'finalized', earlyConfirmations: null },
  feeCeilings: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasPerTransaction: 1_000_000n },
  explorer: null,
};
