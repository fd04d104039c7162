import { exponentOf, isCurrency } from '@florin/contract/currencies';

const DIGITS = 6;

/** Smallest units of USDT and USDC as a decimal with all six digits: `-1500000n` → `-1.500000`. */
export function formatUnits(units: bigint): string {
  return withPoint(units, DIGITS);
}

/** The same of any currency, with the digits of its smallest unit: `1999n` USD → `19.99`. What is no currency has none. */
export function formatMinor(units: bigint, currency: string): string {
  return withPoint(units, isCurrency(currency) ? exponentOf(currency) : 0);
}

function withPoint(units: bigint, exponent: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(exponent + 1, '0');
  const [whole, fraction] = [
    digits.slice(0, digits.length - exponent),
    digits.slice(digits.length - exponent),
  ];
  return `${units < 0n ? '-' : ''}${whole}${exponent === 0 ? '' : `.${fraction}`}`;
}
