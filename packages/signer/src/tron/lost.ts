import { isNobodysAccount } from '../lost-accounts.ts';
import { accountOfTron } from './address.ts';

/** The network's own address for burnt coins, and the contracts of USDT and of USDC, which is retired. */
const LOST: ReadonlySet<string> = new Set([
  'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy',
  'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8',
]);

/** Whether coins would be lost at an address of Tron. @throws RangeError where it is none */
export const isLostOnTron = (address: string): boolean =>
  LOST.has(address) || isNobodysAccount(accountOfTron(address));
