import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explorerUrl } from './explorer-url.ts';

const explorer = {
  network: 'erc20',
  transaction: 'https://etherscan.example/tx/{tx_id}',
  address: 'https://etherscan.example/address/{address}?a=b#c',
};

test('a transaction and an address have their own page; other networks have none', () => {
  const found = (network: string | null, kind: 'transaction' | 'address') =>
    explorerUrl([explorer], { network, kind, id: '0x12' });
  expect(found('erc20', 'transaction')).toBe('https://etherscan.example/tx/0x12');
  expect(found('erc20', 'address')).toBe('https://etherscan.example/address/0x12?a=b#c');
  expect([found('spl', 'address'), found(null, 'address')]).toEqual([undefined, undefined]);
});

test('whatever an id holds, its link leads to the explorer, or is none', () => {
  const ids = fc.oneof(
    fc.string({ unit: 'binary-ascii' }),
    fc.constantFrom('$&', '../x', 'javascript:alert(1)'),
  );
  fc.assert(
    fc.property(ids, (id) => {
      const url = explorerUrl([explorer], { network: 'erc20', kind: 'transaction', id });
      expect(url?.startsWith('https://etherscan.example/')).toBe(true);
    }),
  );
  for (const link of ['javascript:alert("{tx_id}")', 'http://x.example/{tx_id}', '{tx_id}'])
    expect(
      explorerUrl([{ ...explorer, transaction: link }], {
        network: 'erc20',
        kind: 'transaction',
        id: 'https:1',
      }),
    ).toBeUndefined();
});
