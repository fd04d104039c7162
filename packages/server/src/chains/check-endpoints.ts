import type { Network } from '@florin/contract/money';
import type { Logger } from '../platform/observability/index.ts';
import { checkEvmEndpoints } from './evm/network-check.ts';
import type { ConfiguredNetworks } from './evm/networks-file.ts';
import type { EndpointReport as Report } from './rpc/report.ts';
import { checkSolanaEndpoints } from './solana/checked-solana.ts';
import { checkTronEndpoints } from './tron/checked-tron.ts';

export interface EndpointReport extends Report {
  network: Network;
}

/** Asks each endpoint of each network for itself. Never throws: an endpoint that is away is a problem of it. */
export async function checkEndpoints(
  { erc20, trc20, spl }: ConfiguredNetworks,
  options: { log: Logger; ca?: string | undefined; timeoutMs?: number | undefined },
): Promise<EndpointReport[]> {
  const [ethereum, tron, solana] = await Promise.all([
    erc20 === undefined ? [] : checkEvmEndpoints(erc20, options),
    trc20 === undefined ? [] : checkTronEndpoints(trc20, options),
    spl === undefined ? [] : checkSolanaEndpoints(spl, options),
  ]);
  return [
    ...ethereum.map((report) => ({ network: 'erc20' as const, ...report })),
    ...tron.map((report) => ({ network: 'trc20' as const, ...report })),
    ...solana.map((report) => ({ network: 'spl' as const, ...report })),
  ];
}
