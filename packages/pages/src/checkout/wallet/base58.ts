const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Bytes as addresses of Solana are written. */
export function base58Of(bytes: Uint8Array): string {
  let rest = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = `${DIGITS[Number(rest % 58n)]}${text}`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

/** The number that an address stands for. Another character counts as zero: the page has addresses from the server, which has checked them. */
export const base58Value = (text: string): bigint =>
  [...text].reduce((sum, one) => sum * 58n + BigInt(Math.max(0, DIGITS.indexOf(one))), 0n);
