import { operator } from '../operations.ts';
import { resource } from '../resource.ts';

const operation = operator();

export const addTreasury = resource({
  name: 'treasury',
  description: "The gas tank, merchants' hot wallets and deposit addresses with real money",
  examples: [
    'florin treasury status',
    'florin treasury sweep mer_01… erc20',
    'florin treasury top-up mer_01… erc20 0.05',
  ],
  operations: [
    operation(
      'status',
      'List our wallets: what they hold, what waits at deposit addresses, and what the last 30 days cost',
      ({ treasury }) => treasury.status(),
    ),
    operation(
      'sweep <merchant> <network>',
      "Bring a merchant's deposits into its hot wallet now, all that are worth more than the fee",
      {
        examples: ['florin treasury sweep mer_01… erc20'],
        run: ({ treasury }, { merchant, network }) => treasury.sweep(merchant, network),
      },
    ),
    operation(
      'top-up <merchant> <network> <amount>',
      'Give a hot wallet coins for its fees out of the gas tank; payouts do so by themselves',
      {
        examples: ['florin treasury top-up mer_01… erc20 0.05   # 0.05 ether'],
        run: ({ treasury }, { merchant, network, amount }) => treasury.topUp(merchant, network, amount),
      },
    ),
  ],
});
