import { operator, resource } from '../operations.ts';
import { preset, text } from '../parameters.ts';

export const addRisk = resource({
  name: 'risk',
  description: 'Addresses that nothing is paid to',
  examples: ['florin risk add erc20 0x5aAe… --reason "court order"', 'florin risk list'],
  operations: [
    operator('add <network> <address>', 'List an address; batches that pay it are refused from now on', {
      examples: ['florin risk add erc20 0x5aAe… --reason "court order"'],
      options: { reason: preset(text('--reason <text>', 'why'), '') },
      call: ({ risk }, { network, address, reason }) => risk.add(network, address, reason),
    }),
    operator('remove <network> <address>', 'Take an address off the list', {
      call: ({ risk }, { network, address }) => risk.remove(network, address),
    }),
    operator('list', 'List the listed addresses', { call: ({ risk }) => risk.list() }),
  ],
});
