import { operator } from '../operations.ts';
import { flag } from '../options.ts';
import { resource } from '../resource.ts';

const operation = operator();

export const addMerchants = resource({
  name: 'merchants',
  description: 'Merchants: each in one mode, sandbox or live',
  examples: ['florin merchants create "Flower shop" --live', 'florin merchants list'],
  operations: [
    operation('create <name>', 'Make a merchant', {
      examples: ['florin merchants create "Flower shop"', 'florin merchants create Shop --live'],
      options: { live: flag('--live', 'real money; without it a sandbox merchant with simulated chains') },
      run: ({ merchants }, { name, live }) => merchants.create({ name, mode: live ? 'live' : 'sandbox' }),
    }),
    operation('list', 'List all merchants', ({ merchants }) => merchants.list()),
    operation(
      'suspend <merchant>',
      'Suspend a merchant: its requests are 403, and its pages show it',
      ({ merchants }, { merchant }) => merchants.suspend(merchant),
    ),
    operation('resume <merchant>', 'Resume a suspended merchant', ({ merchants }, { merchant }) =>
      merchants.resume(merchant),
    ),
  ],
});
