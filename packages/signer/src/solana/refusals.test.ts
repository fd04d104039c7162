import * as kit from '@solana/kit';
import * as budget from '@solana-program/compute-budget';
import * as token from '@solana-program/token';
import { expect, test } from 'vitest';
import { BadEncoding } from '../rlp.ts';
import { MEMO_PROGRAM, readSolanaAddress, solanaAddressOf } from './address.ts';
import {
  decodeSignedSolana,
  decodeSolanaMessage,
  encodeSignedSolana,
  encodeSolanaMessage,
  type SolanaMessage,
  signSolanaMessage,
} from './message.ts';
import { hex } from './test-kit.ts';

const PAYER = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOURCE = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
const SOUND: SolanaMessage = {
  version: 0,
  feePayer: PAYER,
  blockhash: SOURCE,
  instructions: [{ kind: 'revoke', source: SOURCE, owner: PAYER }],
};

/** What kit compiles of any instructions. */
const compiled = (instructions: readonly kit.Instruction[], version: 'legacy' | 0 = 0) =>
  Uint8Array.from(
    kit.compileTransaction(
      kit.pipe(
        kit.createTransactionMessage({ version }),
        (m) => kit.setTransactionMessageFeePayer(kit.address(PAYER), m),
        (m) =>
          kit.setTransactionMessageLifetimeUsingBlockhash(
            { blockhash: kit.blockhash(SOURCE), lastValidBlockHeight: 1n },
            m,
          ),
        (m) => kit.appendTransactionMessageInstructions(instructions, m),
      ),
    ).messageBytes,
  );

/** A revocation with another program, accounts or data. */
const odd = (
  changes: { program?: string; accounts?: kit.AccountMeta[]; data?: number[] } = {},
): kit.Instruction => ({
  programAddress: kit.address(changes.program ?? token.TOKEN_PROGRAM_ADDRESS),
  accounts: changes.accounts ?? [
    { address: kit.address(SOURCE), role: kit.AccountRole.WRITABLE },
    { address: kit.address(PAYER), role: kit.AccountRole.READONLY_SIGNER },
  ],
  data: Uint8Array.from(changes.data ?? [5]),
});

test('what is refused has one line that says why', () => {
  const sound = encodeSolanaMessage(SOUND);
  expect(hex(compiled([odd()]))).toBe(hex(sound));
  const at = (index: number, byte: number) => sound.with(index, byte);
  const source = { address: kit.address(SOURCE), role: kit.AccountRole.WRITABLE };
  const others = Array.from({ length: 40 }, (_, i) => solanaAddressOf(new Uint8Array(32).fill(i + 1)));
  const cases: [bytes: Uint8Array, line: string][] = [
    [
      compiled([odd(), odd({ program: '11111111111111111111111111111111' })]),
      'it calls the program 11111111111111111111111111111111, for which nothing is signed',
    ],
    [
      compiled([odd({ program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' })]),
      'it calls the program TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb, for which nothing is signed',
    ],
    [
      compiled([odd({ data: [6, 2, 0] })]),
      'it calls instruction 6 of the token program, which is not signed',
    ],
    [compiled([odd({ data: [] })]), 'it calls instruction -1 of the token program, which is not signed'],
    [compiled([odd({ data: [5, 0] })]), 'a revocation has data'],
    [compiled([odd({ accounts: [source] })]), 'a revocation names 1 accounts, not 2'],
    [compiled([odd({ data: [12, 1] })]), 'a transfer names 2 accounts, not 4'],
    [compiled([odd({ program: MEMO_PROGRAM })]), 'a memo names 2 accounts, not 0'],
    [compiled([odd({ program: MEMO_PROGRAM, accounts: [], data: [0xff] })]), 'a memo is no text of UTF-8'],
    [
      compiled([
        odd({ program: budget.COMPUTE_BUDGET_PROGRAM_ADDRESS, accounts: [], data: [1, 0, 0, 0, 0] }),
      ]),
      'it calls something else of the compute budget than limit and price',
    ],
    [
      compiled([odd({ program: token.ASSOCIATED_TOKEN_PROGRAM_ADDRESS, data: [2] })]),
      'token accounts are opened where there is none, by an instruction of one byte',
    ],
    [
      compiled([
        odd({
          accounts: [
            { ...source, role: kit.AccountRole.WRITABLE_SIGNER },
            { ...source, address: kit.address(PAYER) },
          ],
        }),
      ]),
      `the account ${SOURCE} signs and need not`,
    ],
    [
      compiled([
        odd({
          accounts: [
            { ...source, role: kit.AccountRole.READONLY },
            { ...source, address: kit.address(PAYER) },
          ],
        }),
      ]),
      `the account ${SOURCE} has to change`,
    ],
    [at(0, 0x81), 'messages of version 1 are not signed'],
    [at(1, 0), `the account ${PAYER} has to sign`],
    [at(sound.length - 1, 1), 'it takes accounts from a lookup table'],
    [concatenated(sound, 0), 'there are bytes behind the end'],
    [sound.subarray(0, -1), 'it ends early'],
    [at(4, 2), 'it names account'],
    [
      encodeSolanaMessage({
        ...SOUND,
        instructions: others.map((one) => ({ kind: 'revoke' as const, source: one, owner: PAYER })),
      }),
      'bytes, more than 1232',
    ],
  ];
  for (const [bytes, line] of cases) {
    const read = () => decodeSolanaMessage(bytes);
    expect(read, line).toThrow(BadEncoding);
    expect(read).toThrow(line);
  }
  const signed = signSolanaMessage(SOUND, () => new Uint8Array(32).fill(1));
  expect(() => decodeSignedSolana(encodeSignedSolana({ ...signed, signatures: [] }))).toThrow(
    'it has 0 signatures, of 1',
  );
});

const concatenated = (bytes: Uint8Array, more: number) => Uint8Array.from([...bytes, more]);

test('addresses are 32 bytes in base58', () => {
  expect(readSolanaAddress(PAYER)).toHaveLength(32);
  for (const text of [
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    `${PAYER}1`,
    '1'.repeat(33),
    '',
  ])
    expect(readSolanaAddress(text), text).toBeUndefined();
});
