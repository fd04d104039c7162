import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { TOKEN_CONTRACTS } from '../../packages/server/src/chains/addresses/token-contracts.ts';
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

/** As an operator writes the networks file: this Ethereum, and another network beside it. @returns the file */
export function writeNetworksFile(folder: string, beside: object): string {
  const erc20 = {
    name: ETHEREUM_AWAY.name,
    test: true,
    endpoints: ETHEREUM_AWAY.endpoints.map(({ url }) => ({ url, own: true })),
    chain_id: ETHEREUM_AWAY.chainId,
    genesis_hash: ETHEREUM_AWAY.genesisHash,
    tokens: { USDT: { address: TOKEN_CONTRACTS.erc20.USDT, decimals: 6 } },
    contracts: { batch_payout: null, sweeper: null },
    finality: { tag: 'finalized', early_confirmations: null },
    fee_ceilings: { max_fee_per_gas: '1', max_priority_fee_per_gas: '1', gas_per_transaction: 1_000_000 },
    explorer: null,
  };
  const file = path.join(folder, 'networks.json');
  writeFileSync(file, JSON.stringify({ networks: { erc20, ...beside } }));
  return file;
}
