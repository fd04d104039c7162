import { exponentOf } from '@florin/contract/currencies';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../platform/db/ids/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import { termsOf } from './terms.ts';

test('every beginning of an id of four digits or more finds it, in whichever case', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 26 }), fc.boolean(), (length, isUpper) => {
      const uuid = newId();
      const typed = encodeId('payment', uuid).slice(0, 'pay_'.length + length);
      const { ids } = termsOf(` ${isUpper ? typed.toUpperCase() : typed} `);
      expect(ids?.kind).toBe('payment');
      expect(ids !== undefined && ids.from <= uuid && uuid <= ids.to).toBe(true);
    }),
  );
});

test('what is typed is read as what it may be, and nothing is refused', () => {
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const hash = `0x${'AB'.repeat(32)}`;
  expect(termsOf(' Ada@Example.COM ')).toMatchObject({ email: 'ada@example.com', ids: undefined });
  expect(termsOf(address.toLowerCase())).toMatchObject({ address, txId: undefined });
  expect(termsOf(hash)).toMatchObject({ txId: hash.toLowerCase(), address: undefined });
  for (const text of ['', 'pay_', 'pay_zzzz', 'pay_o0o0', 'nobody_0123', '%_\\', "'; drop table payment"])
    expect(termsOf(text)).toEqual({
      text: text.trim(),
      ids: undefined,
      email: undefined,
      address: undefined,
      txId: undefined,
      sums: [],
    });
});

test('an amount is read in each currency that it may be of, to the unit', () => {
  const sums = (text: string) =>
    new Map(termsOf(text).sums.map(({ currency, units }) => [currency, units] as const));
  const all = sums('12.50');
  expect([all.get('USD'), all.get('USDT'), all.get('KWD'), all.has('JPY')]).toEqual([
    1_250n,
    12_500_000n,
    12_500n,
    false,
  ]);
  expect(sums('100.00').get('JPY')).toBe(100n);
  expect([...sums('1,250.50 usdt')]).toEqual([['USDT', 1_250_500_000n]]);
  expect([...sums('0.000001USDC')]).toEqual([['USDC', 1n]]);
  expect([...sums('0.01 JPY'), ...sums('5 XYZ'), ...sums('0 USD')]).toEqual([]);
  for (const text of ['-1', '1e3', '1,25', '12.', '.5', '1.2.3', '9'.repeat(16), '1 USD 2'])
    expect(termsOf(text).sums, text).toEqual([]);
  expect(termsOf('999999999999999 USDT').sums).toEqual([]);
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.constantFrom('USD', 'USDT', 'JPY'),
      (units, currency) => {
        const typed = formatPlain(units, exponentOf(currency));
        expect(sums(`${typed} ${currency}`).get(currency)).toBe(units);
        expect(sums(typed).get(currency)).toBe(units);
      },
    ),
  );
});

function formatPlain(units: bigint, exponent: number): string {
  const digits = units.toString().padStart(exponent + 1, '0');
  const at = digits.length - exponent;
  return exponent === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
}
