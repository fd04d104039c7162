import { parseTokens } from '@florin/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PAGE_LANGUAGES } from './views/languages.ts';
import { priceText, rateText, tokenAmountText, tokensText } from './written.ts';

test.each([...PAGE_LANGUAGES])(
  'in %s prices are in Latin digits, and tokens as a wallet takes them',
  (language) => {
    const price = priceText(123_456n, 'USD', language);
    expect(price.replaceAll(/[^0-9]/g, '')).toBe('123456');
    // Its own isolate gives it its direction; marks within would turn the currency's sign around.
    expect(price).not.toMatch(/[\u061c\u200e\u200f]/);
    expect(priceText(1_234_500_000n, 'USDT', language)).toBe('1234.50\u00a0USDT');
    expect(tokensText(1_234_567_891n, 'USDC')).toBe('1234.567891\u00a0USDC');
    expect(rateText('1.08251', 'EUR', language).replaceAll(/[^0-9]/g, '')).toBe('108251');
  },
);

test('an amount of tokens is never written with exactly three digits after the point, and is worth the same', () => {
  expect(tokenAmountText(9_996_000n)).toBe('9.9960');
  expect(tokenAmountText(9_990_000n)).toBe('9.99');
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (units) => {
      const text = tokenAmountText(units);
      expect(text).not.toMatch(/[.]\d{3}$/);
      expect(parseTokens(text)).toBe(units);
    }),
  );
});
