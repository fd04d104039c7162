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
    });
});
