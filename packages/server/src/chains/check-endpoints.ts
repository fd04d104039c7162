import type { Network } from '@florin/contract/money';
import type { Logger } from '../platform/observability/index.ts';
import { checkEvmEndpoints } from './evm/network-check.ts';
import type { ConfiguredNetworks } from './evm/networks-file.ts';
import type { EndpointReport as Report } from './rpc/report.ts';
import { checkSolanaEndpoints } from './solana/checked-solana.ts';
import type { TronNetwork } from './tron/network.ts';

export interface EndpointReport extends Report {
  network: Network;
}

interface Options {
  log: Logger;
  ca?: string | undefined;
  timeoutMs?: number | undefined;
}

/** Asks each endpoint of each network for itself. Never throws: an endpoint that is away is a problem of it. */
export async function checkEndpoints(
  { erc20, trc20, spl }: ConfiguredNetworks,
  options: Options,
): Promise<EndpointReport[]> {
  const [ethereum, tron, solana] = await Promise.all([
    erc20 === undefined ? [] : checkEvmEndpoints(erc20, options),
    trc20 === undefined ? [] : checkTron(trc20, options),
    spl === undefined ? [] : checkSolanaEndpoints(spl, options),
  ]);
  return [
    ...ethereum.map((report) => ({ network: 'erc20' as const, ...report })),
    ...tron.map((report) => ({ network: 'trc20' as const, ...report })),
    ...solana.map((report) => ({ network: 'spl' as const, ...report })),
  ];
}

/** Its contracts are asked by a library that is not loaded at the start of every process. */
async function checkTron(network: TronNetwork, options: Options): Promise<Report[]> {
  const { checkTronEndpoints } = await import('./tron/checked-tron.ts');
  return await checkTronEndpoints(network, options);
}
