import { collectorAccount } from './contracts.ts';
import type { Keys } from './keys.ts';
import type { SolanaBook } from './solana/purposes.ts';
import { accountOfTron } from './tron/address.ts';
import type { TronBook } from './tron/purposes.ts';

/** The addresses of our keys on Tron. */
export function tronBookOf({ trc20 }: Keys): TronBook {
  const account = (address: string) => accountOfTron(address);
  return {
    hot: (number) => trc20.hot(number).address,
    deposit: (number, index) => trc20.deposit(number, index).address,
    owner: (number) => trc20.owner(number).address,
    collectorAccount: (number) =>
      collectorAccount(account(trc20.owner(number).address), account(trc20.hot(number).address)),
  };
}

/** The addresses of our keys on Solana. */
export const solanaBookOf = ({ spl }: Keys): SolanaBook => ({
  hot: (number) => spl.hot(number).address,
  deposit: (number, index) => spl.deposit(number, index).address,
  delegate: () => spl.delegate().address,
});
