import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { addressOf } from '../../packages/signer/src/address.ts';
import { isLostOnEthereum } from '../../packages/signer/src/lost-accounts.ts';
import { SolanaAccounts } from '../../packages/signer/src/solana/accounts.ts';
import { solanaAddressOf, tokenAccountOf } from '../../packages/signer/src/solana/address.ts';
import { isLostOnSolana } from '../../packages/signer/src/solana/lost.ts';
import { tronOfAccount } from '../../packages/signer/src/tron/address.ts';
import { isLostOnTron } from '../../packages/signer/src/tron/lost.ts';
import { addressCases } from '../own-cases/addresses.ts';

// The signer refuses recipients by rules of its own, so that a server in other hands cannot burn coins. They are the server's rules:
// what one of them takes and the other does not would be a payout that nobody can send.

const rules = {
  erc20: isLostOnEthereum,
  trc20: isLostOnTron,
  spl: (address: string) => isLostOnSolana(address, false),
} as const;

/** Texts that are no addresses, and those with a wrong sum, are refused before either rule. */
const isAddress = (code: string | undefined) => code !== 'format' && code !== 'checksum';

function agree(network: keyof typeof rules, address: string): boolean {
  const { ok, code, canonical } = checkAddress(network, address);
  if (!isAddress(code)) return true;
  expect(rules[network](canonical), `${network} ${address} ${code}`).toBe(!ok);
  return ok;
}

const low = (last: number) => Uint8Array.from([...new Uint8Array(19), last]);
const high = Uint8Array.from([...new Uint8Array(18), 1, 0]);
const ofBytes = (bytes: readonly number[]) => Uint8Array.from(bytes);

test('signer and server refuse the same recipients: those of our own cases and of the edges', () => {
  for (const { network, address } of addressCases()) agree(network, address);
  const accounts = [low(0), low(1), low(0xff), high, new Uint8Array(20).fill(0xee)];
  accounts.push(ofBytes([...new Uint8Array(18), 0xde, 0xad]));
  for (const account of accounts) {
    agree('erc20', addressOf(account));
    agree('trc20', tronOfAccount(addressOf(account)));
  }
  const wallet = new SolanaAccounts(new Uint8Array(64)).hot(1).address;
  const mint = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
  const names = [
    'SysvarC1ock11111111111111111111111111111111',
    'Stake11111111111111111111111111111111111111',
  ];
  // The neutral element of the curve, whose key everybody has.
  const neutral = solanaAddressOf(ofBytes([1, ...new Uint8Array(31)]));
  const keys = [wallet, mint, tokenAccountOf(wallet, mint), neutral];
  const taken = [...names, ...keys].map((address) => agree('spl', address));
  expect(taken).toEqual([false, false, true, false, false, false]);
  for (const address of [tokenAccountOf(wallet, mint), mint])
    expect(isLostOnSolana(address, true)).toBe(!checkAddress('spl', address, { allowProgramOwned: true }).ok);
});

test('signer and server refuse the same recipients: of random bytes', () => {
  const account = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(account, fc.nat(19), key, (bytes, zeros, owner) => {
      const one = addressOf(bytes.fill(0, 0, zeros));
      agree('erc20', one);
      agree('trc20', tronOfAccount(one));
      agree('spl', solanaAddressOf(owner));
    }),
    { numRuns: 500 },
  );
});
