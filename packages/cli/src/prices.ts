import { formatPrice, isCurrency, parsePrice } from '@florin/contract/currencies';
import { reasonOf, wrongUsage } from './failure.ts';

/** Parses `19.99` `usd` into the smallest unit and an upper-case code. @throws CommandFailure */
export function readPrice(amount: string, code: string): { amount: bigint; currency: string } {
  const currency = readCurrency(code);
  try {
    return { amount: parsePrice(amount, currency), currency };
  } catch (error) {
    throw wrongUsage(`${reasonOf(error)}, such as 19.99: not ${amount}.`);
  }
}

/** @throws CommandFailure for no code of ISO 4217, USDT or USDC */
export function readCurrency(code: string): string {
  const currency = code.toUpperCase();
  if (!isCurrency(currency)) throw wrongUsage(`${code} is no ISO 4217 currency, USDT or USDC.`);
  return currency;
}

/** A price for people: `$19.99`, `12.50 USDT`. */
export const priceOf = ({ amount, currency }: { amount: number; currency: string }) =>
  formatPrice(BigInt(amount), currency, 'en');
