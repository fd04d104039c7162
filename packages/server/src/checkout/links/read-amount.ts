import { parsePrice } from '@florin/contract/currencies';

/** Longer than any price. */
const CHARACTERS_MAX = 32;
/** Arabic and Persian digits, as phones in those languages type them, and their decimal sign. */
const DIGITS = /[٠-٩۰-۹]/g;
const DECIMAL_SIGNS = /[,٫]/g;
/** `1,250` means 1250 in some countries and 1.25 in others, so it is refused. */
const MAY_BE_GROUPED = /^[1-9]\d{0,2}[,٫]\d{3}$/;

const latin = (digit: string) => String((digit.codePointAt(0) ?? 0) & 0xf);

/**
 * Parses an amount typed by a payer into the smallest unit of the currency. Accepts Latin, Arabic and Persian digits, a
 * point or comma before the decimals, and no group separators. Ambiguous amounts are refused, never rounded.
 *
 * @returns undefined if the text is no amount
 */
export function readAmount(typed: string, currency: string): bigint | undefined {
  if (typed.length > CHARACTERS_MAX) return undefined;
  // The digits of both scripts end in their value: U+0660 to U+0669, U+06F0 to U+06F9.
  const text = typed.trim().replaceAll(DIGITS, latin);
  if (MAY_BE_GROUPED.test(text)) return undefined;
  try {
    return parsePrice(text.replaceAll(DECIMAL_SIGNS, '.'), currency);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
