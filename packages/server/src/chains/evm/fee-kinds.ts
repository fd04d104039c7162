import { type FeeKind, UnbuildableTransfer } from '../port/port.ts';
import { transferGas } from './build-transfer.ts';
import type { GasUse } from './gas.ts';
import { collectorOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';

/** About what the largest contract of ours has. */
const DEPLOYED_BYTES = 2_500;

/** What such a transaction does; a stuck one is compared with the price of one like it. */
export function gasUseOf(network: EvmNetwork, kind: FeeKind, items: number): GasUse {
  switch (kind) {
    case 'charge':
      collectorOf(network);
      return { kind };
    case 'account':
    case 'activate':
    case 'permit':
      return { kind };
    case 'sweep':
      return { kind: 'sweep', addresses: items, authorizations: items };
    case 'approve':
      return { kind: 'approve' };
    case 'move':
      return { kind: 'transfer' };
    case 'deploy':
      return { kind: 'deploy', bytes: DEPLOYED_BYTES };
    case 'gas':
    case 'fill':
      return { kind: 'plain' };
    case 'lend':
    case 'unlend':
      throw new UnbuildableTransfer('nothing is staked on this network');
    case 'transfer':
      return transferGas(
        network,
        Array.from({ length: items }, (_, place) => place),
      );
  }
}
