import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { HDKey, publicKeyToAddress } from 'viem/accounts';
import { expect, test } from 'vitest';
import { DEPOSIT_INDEX_MAX } from '../port/port.ts';
import { AccountAddresses } from './extended-key.ts';

/** By viem's derivation and spelling. */
function expected(account: HDKey, path: string): string {
  const { publicKey } = account.derive(path);
  if (publicKey === null) throw new Error('every node has a public key');
  return publicKeyToAddress(`0x${secp256k1.Point.fromBytes(publicKey).toHex(false)}`);
}

const accounts = fc
  .record({ seed: fc.uint8Array({ minLength: 16, maxLength: 64 }), account: fc.nat(2 ** 31 - 1) })
  .map(({ seed, account }) => HDKey.fromMasterSeed(seed).derive(`m/44'/60'/${account}'`));

test('addresses are those of BIP 32, from the public key alone', () => {
  fc.assert(
    fc.property(accounts, fc.nat(DEPOSIT_INDEX_MAX), (account, index) => {
      const addresses = new AccountAddresses(account.publicExtendedKey);
      expect(addresses.deposit(index)).toBe(expected(account, `m/0/${index}`));
      expect(addresses.deposit(index)).toBe(addresses.deposit(index));
      expect(addresses.hot).toBe(expected(account, 'm/1/0'));
    }),
    { numRuns: 50 },
  );
});

test('a changed, cut or private key, one of another depth, and no key at all are refused', () => {
  fc.assert(
    fc.property(accounts, fc.nat(110), fc.constantFrom('1', 'x', '0', ''), (account, at, letter) => {
      const text = account.publicExtendedKey;
      const changed = text.slice(0, at) + letter + text.slice(at + 1);
      fc.pre(changed !== text);
      expect(() => new AccountAddresses(changed)).toThrow(RangeError);
    }),
    { numRuns: 200 },
  );
  const account = HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/60'/1'");
  for (const text of [account.privateExtendedKey, account.derive('m/0').publicExtendedKey, '', 'xpub'])
    expect(() => new AccountAddresses(text)).toThrow(RangeError);
});

test('numbers that no deposit address has are refused', () => {
  const account = HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/60'/1'");
  const addresses = new AccountAddresses(account.publicExtendedKey);
  for (const index of [-1, 0.5, Number.NaN, DEPOSIT_INDEX_MAX + 1])
    expect(() => addresses.deposit(index)).toThrow(RangeError);
});
