import { operator } from '../operations.ts';
import { preset, text } from '../options.ts';
import { resource } from '../resource.ts';

const operation = operator();

export const addRisk = resource({
  name: 'risk',
  description: 'Addresses that are never paid',
  examples: ['florin risk add erc20 0x5aAe… --reason "court order"', 'florin risk list'],
  operations: [
    operation('add <network> <address>', 'List an address; batches that pay it are refused from now on', {
      examples: ['florin risk add erc20 0x5aAe… --reason "court order"'],
      options: { reason: preset(text('--reason <text>', 'why'), '') },
      run: ({ risk }, { network, address, reason }) => risk.add(network, address, reason),
    }),
    operation(
      'remove <network> <address>',
      'Remove an address from the list',
      ({ risk }, { network, address }) => risk.remove(network, address),
    ),
    operation('list', 'List the listed addresses', ({ risk }) => risk.list()),
  ],
});
