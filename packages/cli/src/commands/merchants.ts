import { operator, resource } from '../operations.ts';
import { flag } from '../parameters.ts';

export const addMerchants = resource({
  name: 'merchants',
  description: 'Merchants: each in one mode, sandbox or live',
  examples: ['florin merchants create "Flower shop" --live', 'florin merchants list'],
  operations: [
    operator('create <name>', 'Make a merchant', {
      examples: ['florin merchants create "Flower shop"', 'florin merchants create Shop --live'],
      options: { live: flag('--live', 'real money; without it a sandbox merchant with simulated chains') },
      call: ({ merchants }, { name, live }) => merchants.create({ name, mode: live ? 'live' : 'sandbox' }),
    }),
    operator('list', 'List all merchants', { call: ({ merchants }) => merchants.list() }),
    operator(
      'suspend <merchant>',
      'Begin nothing for a merchant until it is resumed: its requests are 403, its pages say so',
      { call: ({ merchants }, { merchant }) => merchants.suspend(merchant) },
    ),
    operator('resume <merchant>', 'Let a suspended merchant work again', {
      call: ({ merchants }, { merchant }) => merchants.resume(merchant),
    }),
  ],
});
