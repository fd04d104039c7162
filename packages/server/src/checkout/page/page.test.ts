import { createHash } from 'node:crypto';
import { PAGE_LANGUAGES } from '@florin/pages';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NetworkFacts } from '../../chains/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { acceptsGzip } from '../../platform/http/pages/index.ts';
import { isPageSecret, newPageSecret, pageToken, parsePageToken } from '../page-token.ts';
import { languageOf } from './language.ts';
import { qrCodeOf } from './qr-code.ts';
import { richLinkOf } from './rich-link.ts';

test("a page's token contains merchant, session and secret, and no other secret matches", () => {
  for (let i = 0; i < 100; i++) {
    const session = { merchant_id: newId(), session_id: newId(), page_token: newPageSecret() };
    const parsed = parsePageToken(pageToken(session));
    expect(parsed).toMatchObject({ merchantId: session.merchant_id, sessionId: session.session_id });
    if (parsed === undefined) throw new Error('a token is read');
    expect(isPageSecret(parsed, session.page_token)).toBe(true);
    expect(isPageSecret(parsed, newPageSecret())).toBe(false);
    expect(isPageSecret(parsed, '')).toBe(false);
  }
});

test('parsers of tokens, languages and encodings never throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(parsePageToken(text)).toBeUndefined();
      const headers = { 'accept-language': text, 'accept-encoding': text };
      expect(PAGE_LANGUAGES).toContain(languageOf({ url: `/checkout/x?lang=${text}`, headers }));
      expect(typeof acceptsGzip({ headers })).toBe('boolean');
    }),
  );
});

test('gzip is sent to clients that accept it', () => {
  const takes = (text: string) => acceptsGzip({ headers: { 'accept-encoding': text } });
  expect(['gzip', 'br, gzip', 'gzip;q=0.5, br', 'deflate,gzip;q=1.0'].map(takes)).toEqual(
    Array(4).fill(true),
  );
  expect(['', 'br', 'gzip;q=0', 'gzip;q=0.0, br', 'xgzip'].map(takes)).toEqual(Array(5).fill(false));
});

test('rich links call the token’s contract with the exact address and amount', () => {
  const pay = { token: 'USDT', amount: 12_500_000n, decimal: '12.50', paymentId: 'pay_1' } as const;
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const [USDT, MINT] = [
    '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  ];
  const names = { name: 'Chain', publicEndpoint: null, collector: null, explorer: null };
  const local: NetworkFacts = {
    ...names,
    isTest: true,
    wallets: { kind: 'ethereum', chainId: 31_337 },
    tokens: { USDT },
  };
  const onEthereum = { ...pay, network: 'erc20', address } as const;
  expect(richLinkOf(local, onEthereum)).toBe(
    `ethereum:${USDT}@31337/transfer?address=${address}&uint256=12500000`,
  );
  // No token of the same name elsewhere takes the place of one that the network does not have.
  expect(richLinkOf({ ...local, tokens: {} }, onEthereum)).toBeNull();
  expect(richLinkOf(undefined, onEthereum)).toBeNull();
  const solana: NetworkFacts = { ...names, isTest: false, wallets: null, tokens: { USDT: MINT } };
  expect(richLinkOf(solana, { ...pay, network: 'spl', address: 'So1' })).toBe(
    `solana:So1?amount=12.50&spl-token=${MINT}&reference=${base58.encode(createHash('sha256').update('pay_1').digest())}`,
  );
  expect(richLinkOf(solana, { ...pay, network: 'trc20', address: 'T1' })).toBeNull();
});

test('a code has a quiet zone of four modules around it', () => {
  const { size, path } = qrCodeOf('0x52908400098527886E0F7030069857D2E4169EE7');
  const pieces = [...path.matchAll(/M(\d+) (\d+)h(\d+)/g)].map(([, x, y, length]) =>
    [x, y, length].map(Number),
  );
  expect(Math.min(...pieces.map(([x = 0]) => x))).toBe(4);
  expect(Math.max(...pieces.map(([x = 0, , length = 0]) => x + length))).toBe(size - 4);
});
