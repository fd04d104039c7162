import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SolanaAccounts } from './accounts.ts';
import { solanaAddressOf } from './address.ts';
import { isMandateSigned, mandateIdOf, mandateText, type SolanaMandate } from './mandate.ts';
import { mandateOf } from './test-mandate.ts';

const accounts = new SolanaAccounts(new Uint8Array(64).fill(7));
const key = accounts.deposit(5, 0);
const of = {
  genesis: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  asset: 'USDC',
  mint: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  recipient: accounts.hot(1).address,
  start: 1_790_000_000,
} as const;
const { terms, signature } = mandateOf(key, of, { terms: { cap: '20500000', subscriptions: 1, salt: 'x' } });
const { start: _, ...fields } = of;
const mandate: SolanaMandate = { ...fields, payer: key.address, terms };

test('a wallet shows in plain words what it signs, and its bytes never change', () => {
  expect(mandateText(mandate)).toBe(
    `Florin mandate 1
I allow charges of at most 20.50 USDC in each month, for each of at most 1 subscription(s), to the wallet named as recipient.
The service that charges keeps this limit. The network keeps only the total that I approve.
network ${mandate.genesis}
payer ${key.address}
recipient ${mandate.recipient}
asset USDC
mint ${mandate.mint}
cap 20500000
period month
starts_at 1790000000
ends_at never
subscriptions 1
salt x
`,
  );
  for (const [cap, words] of [
    ['1', '0.000001'],
    ['20000000', '20.00'],
    ['20000010', '20.00001'],
    ['1234567891', '1234.567891'],
  ])
    expect(mandateText({ ...mandate, terms: { ...terms, cap: cap ?? '' } })).toContain(
      `at most ${words} USDC`,
    );
});

test('it is signed by its payer alone, and each other mandate has another text and id', () => {
  expect(isMandateSigned(mandate, signature)).toBe(true);
  const stranger = accounts.deposit(5, 1).address;
  const others: SolanaMandate[] = [
    { ...mandate, genesis: mandate.mint },
    { ...mandate, asset: 'USDT' },
    { ...mandate, mint: mandate.genesis },
    { ...mandate, payer: stranger },
    { ...mandate, recipient: stranger },
    ...[
      { cap: '20500001' },
      { period: 'week' as const },
      { startsAt: 1 },
      { endsAt: 1 },
      { subscriptions: 2 },
      { salt: 'y' },
    ].map((changes) => ({ ...mandate, terms: { ...terms, ...changes } })),
  ];
  const ids = new Set([mandate, ...others].map(mandateIdOf));
  expect(ids.size).toBe(others.length + 1);
  for (const other of others) expect(isMandateSigned(other, signature)).toBe(false);
});

test('what is no signature signs nothing; nor does a key that anybody can sign for', () => {
  for (const text of ['', '0x', `${signature}00`, signature.toUpperCase(), `0x${'00'.repeat(64)}`])
    expect(isMandateSigned(mandate, text)).toBe(false);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
      expect(isMandateSigned(mandate, `0x${Buffer.from(bytes).toString('hex')}`)).toBe(false);
    }),
    { numRuns: 30 },
  );
  // The neutral element: R of the same, S of 0.
  const neutral = Uint8Array.of(1, ...new Uint8Array(31));
  const forged = `0x${Buffer.concat([neutral, new Uint8Array(32)]).toString('hex')}`;
  expect(isMandateSigned({ ...mandate, payer: solanaAddressOf(neutral) }, forged)).toBe(false);
});
