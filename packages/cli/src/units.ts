const DIGITS = 6;

/** Smallest units of USDT and USDC as a decimal with all six digits: `-1500000n` → `-1.500000`. */
export function formatUnits(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(DIGITS + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}
