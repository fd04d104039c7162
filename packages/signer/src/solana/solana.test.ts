import * as kit from '@solana/kit';
import * as token from '@solana-program/token';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex } from '../bytes.ts';
import { damaged, damageOf, outcome } from '../test-damage.ts';
import { isOnCurve, readSolanaAddress, tokenAccountOf } from './address.ts';
import { deriveEd25519 } from './keys.ts';
import {
  decodeSignedSolana,
  decodeSolanaMessage,
  encodeSignedSolana,
  encodeSolanaMessage,
  type SolanaMessage,
  signersOf,
  signSolanaMessage,
  solanaTransactionId,
} from './message.ts';
import { address, hex, key, message, theirReading, theirTransaction } from './test-kit.ts';

const RUNS = process.env.FLORIN_FULL === '1' ? 100_000 : 2_000;
const LIMIT_MS = process.env.FLORIN_FULL === '1' ? 3_600_000 : 120_000;

test(
  'messages are written as kit compiles them, and read back',
  () => {
    fc.assert(
      fc.property(message, (one) => {
        const bytes = encodeSolanaMessage(one);
        const theirs = theirTransaction(one);
        expect(hex(bytes)).toBe(hex(theirs.messageBytes));
        expect(decodeSolanaMessage(bytes)).toEqual(one);
        expect(signersOf(one)).toEqual(Object.keys(theirs.signatures));
      }),
      { numRuns: RUNS },
    );
  },
  LIMIT_MS,
);

// Places of accounts, lengths, codes of instructions, versions.
const damage = damageOf(0, 1, 2, 3, 4, 5, 6, 9, 12, 13, 0x7f, 0x80, 0x81, 0xff);

test(
  'of broken messages one reading at most is taken, the one that kit has',
  () => {
    let taken = 0;
    fc.assert(
      fc.property(message, damage, (one, list) => {
        const bytes = damaged(encodeSolanaMessage(one), list);
        const read = outcome(() => decodeSolanaMessage(bytes));
        const their = theirReading(bytes);
        expect(read).toEqual(their ?? 'refused');
        if (read !== 'refused') taken += 1;
      }),
      { numRuns: RUNS },
    );
    // Some two of a hundred are.
    expect(taken).toBeGreaterThan(RUNS / 250);
  },
  LIMIT_MS,
);

test(
  'signatures, ids and signed transactions are those of kit',
  async () => {
    await fc.assert(
      fc.asyncProperty(key, key, message, async (seed, other, { version, blockhash, instructions }) => {
        const [payer, second] = await Promise.all(
          [seed, other].map((one) => kit.createKeyPairSignerFromPrivateKeyBytes(one)),
        );
        if (payer === undefined || second === undefined) throw new Error('there are two');
        const feePayer = payer.address;
        // A second key signs where another account would, as deposit addresses do in a sweep.
        const one: SolanaMessage = {
          version,
          feePayer,
          blockhash,
          instructions: [
            ...instructions.filter(({ kind }) => kind === 'memo' || kind === 'computeLimit'),
            { kind: 'revoke', source: blockhash, owner: second.address },
          ],
        };
        const keys = new Map([
          [payer.address as string, seed],
          [second.address as string, other],
        ]);
        const signed = signSolanaMessage(one, (address) => keys.get(address) ?? new Uint8Array());
        const their = await kit.partiallySignTransaction(
          [payer.keyPair, second.keyPair],
          theirTransaction(one),
        );
        const bytes = encodeSignedSolana(signed);
        expect(hex(bytes)).toBe(hex(kit.getTransactionEncoder().encode(their)));
        expect(solanaTransactionId(signed)).toBe(kit.getSignatureFromTransaction(their));
        expect(decodeSignedSolana(bytes)).toEqual(signed);
      }),
      { numRuns: Math.ceil(RUNS / 20) },
    );
  },
  LIMIT_MS,
);

test(
  'token accounts, and what is on the curve, are those of kit',
  async () => {
    await fc.assert(
      fc.asyncProperty(address, address, async (owner, mint) => {
        const [account] = await token.findAssociatedTokenPda({
          owner: kit.address(owner),
          mint: kit.address(mint),
          tokenProgram: token.TOKEN_PROGRAM_ADDRESS,
        });
        expect(tokenAccountOf(owner, mint)).toBe(account);
        expect(isOnCurve(readSolanaAddress(owner) ?? new Uint8Array())).toBe(
          !kit.isOffCurveAddress(kit.address(owner)),
        );
      }),
      { numRuns: Math.ceil(RUNS / 20) },
    );
  },
  LIMIT_MS,
);

test('keys are derived as SLIP-0010 says', () => {
  // Its test vectors 1 and 2 for ed25519.
  const vectors: [seed: string, path: number[], privateKey: string, chainCode: string][] = [
    [
      '000102030405060708090a0b0c0d0e0f',
      [],
      '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7',
      '90046a93de5380a72b5e45010748567d5ea02bbf6522f979e05c0d8d8ca9fffb',
    ],
    [
      '000102030405060708090a0b0c0d0e0f',
      [0, 1, 2, 2, 1_000_000_000],
      '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
      '68789923a0cac2cd5a29172a475fe9e0fb14cd6adb5ad98a3fa70333e7afa230',
    ],
    [
      'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542',
      [0, 2_147_483_647, 1, 2_147_483_646, 2],
      '551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d',
      '5d70af781f3a37b829f0d060924d5e960bdc02e85423494afc0b1a41bbe196d4',
    ],
  ];
  for (const [seed, path, privateKey, chainCode] of vectors) {
    const derived = deriveEd25519(fromHex(`0x${seed}`), path);
    expect([hex(derived.privateKey), hex(derived.chainCode)]).toEqual([privateKey, chainCode]);
  }
  expect(() => deriveEd25519(new Uint8Array(16), [2 ** 31])).toThrow(RangeError);
});
